"""One endpoint per attached editor; the only room that knows the wire."""
