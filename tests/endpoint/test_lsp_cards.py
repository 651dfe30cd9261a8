"""Cards as messages and as pages."""

from kova_ls.endpoint.lsp_cards import card_page, card_text
from kova_ls.values import (
    Approval,
    CommandSubject,
    EditSubject,
    FileChange,
    NetworkSubject,
    OtherSubject,
    PlanSubject,
    Reason,
)


def card(subject, decisions=("deny", "once", "remember")):
    return Approval(
        approval_id="a",
        session_id="s",
        turn_id="t",
        call_id="c",
        kind="tool",
        title="Run\nx",
        subject=subject,
        reasons=(Reason(code="r", text="No rule allows it."),),
        decisions=decisions,
        requested_at=1.0,
    )


def test_a_card_fits_a_message_and_says_what_is_missing():
    text, is_whole = card_text(card(CommandSubject(command="echo " + "x" * 5_000, cwd="file:///w")))
    assert len(text) <= 1_000
    assert not is_whole
    assert text.startswith("Kova: Run⏎x\necho xxx")
    assert "4,205 characters more" in text
    assert text.endswith("No rule allows it.")
    short = card_text(card(CommandSubject(command="a\x1b[2J\nb", cwd="file:///w")))
    assert short == ("Kova: Run⏎x\na⟨U+001B⟩[2J\nb\nNo rule allows it.", True)


def test_every_subject_has_its_text():
    file = FileChange(uri="file:///w/a", change="modify", diff="-one\n+two\n")
    assert "+two" in card_text(card(EditSubject(files=(file,)))).text
    assert "GET http://x/" in card_text(card(NetworkSubject(method="GET", url="http://x/"))).text
    assert "# Plan" in card_text(card(PlanSubject(markdown="# Plan"))).text
    assert "it all" in card_text(card(OtherSubject(summary="it all"))).text


def test_many_small_files_are_not_cut_silently():
    files = tuple(
        FileChange(uri=f"file:///w/{n}", change="modify", diff=f"-{n}\n+{n}!\n") for n in range(200)
    )
    text, is_whole = card_text(card(EditSubject(files=files)))
    assert len(text) <= 1_000
    assert not is_whole
    assert text.endswith("there is more than a message holds.")
    page = card_page(card(EditSubject(files=files)), lambda ref: "")
    assert "+199!" in page


def test_a_page_holds_what_was_hidden():
    hidden = CommandSubject(command="ec", cwd="file:///w", hidden_chars=5, output_ref="s/x.txt")
    assert not card_text(card(hidden)).is_whole
    kept = {"s/x.txt": "echo \x1b" + "y" * 30_000 + "\n```\nz"}
    page = card_page(card(hidden), kept.__getitem__)
    assert "y" * 30_000 in page
    assert "\x1b" not in page
    assert "````sh\necho" in page
    file = FileChange(
        uri="file:///w/a", change="modify", diff="-1", hidden_lines=9, output_ref="s/x.txt"
    )
    assert not card_text(card(EditSubject(files=(file,)))).is_whole
    assert "y" * 30_000 in card_page(card(EditSubject(files=(file,))), kept.__getitem__)
