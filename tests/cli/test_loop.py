from inline_snapshot import snapshot

from kova_ls.cli.loop import loop_lines
from kova_ls.cli.terminal import Style
from kova_ls.protocol.turn import LoopReadResult


def test_a_cost_is_said_where_it_is_known():
    step = {"stepId": "s", "number": 1, "model": "work", "intent": "", "startedAt": 1.0}
    for cost, said in ((None, ""), (0.0421, "$0.042"), (0, "$0.000"), (12.345, "$12.35")):
        usage = {"inputTokens": 10, "outputTokens": 1, **({} if cost is None else {"cost": cost})}
        loop = LoopReadResult.model_validate(
            {
                "turnId": "t",
                "steps": [{**step, "usage": usage, "calls": []}],
                "stoppedBecause": "",
            }
        )
        text = "\n".join(loop_lines(loop, Style(colour=False, signs=True)))
        assert ("$" in text) is (cost is not None)
        assert cost is None or said in text


def test_every_step_with_its_calls_verdicts_and_the_end():
    loop = LoopReadResult.model_validate(
        {
            "turnId": "t",
            "steps": [
                {
                    "stepId": "s",
                    "number": 1,
                    "model": "work",
                    "intent": "Look first\x07",
                    "startedAt": 1.0,
                    "durationMs": 1500.0,
                    "firstTokenMs": 210.4,
                    "usage": {"inputTokens": 12000, "cachedTokens": 9000, "outputTokens": 30},
                    "calls": [
                        {
                            "callId": "c",
                            "tool": "read",
                            "title": "read a.py",
                            "verdict": {
                                "decision": "allow",
                                "reasons": [{"code": "r", "text": "reads inside the workspace"}],
                            },
                            "status": "ok",
                            "durationMs": 3.2,
                        }
                    ],
                },
                {
                    "stepId": "s2",
                    "number": 2,
                    "model": "work",
                    "intent": "",
                    "startedAt": 2.0,
                    "usage": {},
                    "calls": [],
                    "error": {"code": "modelFailed", "message": "overloaded"},
                },
            ],
            "stoppedBecause": "the model failed",
            "error": {"code": "modelFailed", "message": "overloaded"},
        }
    )
    assert "\n".join(loop_lines(loop, Style(colour=False, signs=True))) == snapshot("""\
step 1  Look first<U+0007>
  model work, first token 210 ms, 12,000 tokens in (9,000 cached), 30 out, 1.5 …
  • read a.py  ok  3 ms
    allow: reads inside the workspace
step 2
  model work
  overloaded
stopped: the model failed
overloaded\
""")
