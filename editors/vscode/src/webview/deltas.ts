/**
 * Join deltas to a text. Offsets count code points, as the engine does.
 *
 * Invariant: pure; a repeated delta adds nothing, a lost one is noticed.
 */

export class Joined {
  text = "";
  /** Something before what is here never arrived. */
  hasGap = false;
  private count = 0;

  /** Add a delta; the answer is what is new of it. */
  add(offset: number, piece: string): string {
    const length = countOf(piece);
    if (offset > this.count) {
      this.hasGap = true;
      this.count = offset;
    }
    const known = this.count - offset;
    if (known >= length) {
      return "";
    }
    const fresh = known === 0 ? piece : [...piece].slice(known).join("");
    this.text += fresh;
    this.count += length - known;
    return fresh;
  }
}

function countOf(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0xd800 && code <= 0xdbff) {
      count -= 1;
    }
  }
  return count;
}
