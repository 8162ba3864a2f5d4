"""Rows of families.py whose texts say little: assertions, mismatches, Python's own errors, and the rest."""

from __future__ import annotations

Row = tuple[str | tuple[str, ...], ...]

SAYS_LITTLE: tuple[Row, ...] = (
    (
        "python-error",
        "exception",
        "place",
        ("error", "exception", "stopiteration"),
        r"\A(?:KeyError|StopIteration|RecursionError|ZeroDivisionError)\b"
        r"|\A(?!Assertion)\w*(?:Error|Exception)(?:: *)?\Z"
        r"|\AIndexError: \w+ index out of range|\A\w+Error: 'NoneType' object |\A\w+Error: unsupported operand type",
        "Python code of the suite or a library fails",
        "IndexError: list index out of range",
        "IndexError: index 4 is out of bounds for dimension 0 with size 3",
        "the interpreter's own texts, which name no cause",
    ),
    (
        "message-wording",
        "exception",
        "message",
        ("regex pattern did not match", "does not match"),
        r"Regex pattern did not match|AssertionError: \"[^\"\n]*\" does not match \"",
        "an error is raised as expected, in other words",
        "AssertionError: Regex pattern did not match.\\n  Expected regex: 'a'\\n  Actual message: 'b'",
        "AssertionError: shapes do not match",
        "pytest.raises(match=), unittest assertRaisesRegex",
    ),
    (
        "not-raised",
        "exception",
        "place",
        ("did not raise", "not raised", "did not warn"),
        r"DID NOT (?:RAISE|WARN)|\b\w+(?:Error|Exception|Warning) not (?:raised|triggered)",
        "an error that is expected is not raised",
        "Failed: DID NOT RAISE <class 'ValueError'>",
        "ValueError: the flag was not raised in time",
        "pytest.raises, unittest assertRaises",
    ),
    (
        "strict-xpass",
        "exception",
        "test",
        ("[xpass(strict)]",),
        r"\A\[XPASS\(strict\)\]",
        "a test that is expected to fail passes",
        "[XPASS(strict)] no kernel yet",
        "AssertionError: XPASS",
        "RUN, pytest-json-report 1.5",
    ),
    (
        "recorded-values",
        "numeric",
        "expression",
        ("recorded:",),
        r"\Arecorded: ",
        "numbers differ from those written down in the test",
        "recorded: assert abs(result_sum.item() - 162.5238) < 1e-2",
        "AssertionError: recorded no values",
        "the asserted expression holds a measured number: origin.py",
    ),
    (
        "attribute-differs",
        "numeric",
        "place",
        ("for attribute",),
        r"The values for attribute '\w+' do not match",
        "a result's shape, dtype or layout differs",
        "AssertionError: The values for attribute 'shape' do not match: torch.Size([0]) != torch.Size([4]).",
        "AttributeError: no value for attribute 'shape'",
        "torch.testing",
    ),
    (
        "not-close",
        "numeric",
        "place",
        (
            "not close",
            "not equal",
            "tolerance",
            "mismatch",
            "not almost equal",
            "differ",
            "allclose",
            "max diff",
            "greater than",
            "less than",
            "within",
            "jacobian",
        ),
        r"(?:Tensor-likes|Scalars|Arrays|Tensors?|Values?|Sequences|Booleans|Outputs?|Results?|Gradients?)\b[^\n]{0,40}"
        r"\b(?:are |is )?(?:not (?:close|equal|almost equal)|differ)|Not equal to tolerance"
        r"|Mismatched elements: |(?:Booleans|Scalars) mismatch|not almost equal|\bmax(?:imum)? (?:abs\w* )?diff"
        r"|AssertionError: N (?:!=|not (?:less|greater)) |Jacobian mismatch"
        r"|\A(?:AssertionError: )?(?:assert )?(?:False|None|tensor\(False)\b[\s\S]{0,400}(?:allclose|isclose)",
        "values differ",
        "AssertionError: Tensor-likes are not close!\\n\\nMismatched elements: 3 / 10 (30.0%)",
        "ValueError: the two files are not close enough in time",
        "torch.testing, numpy.testing",
    ),
    (
        "assert-numbers",
        "numeric",
        "place",
        ("assert",),
        r"\A(?:AssertionError: )?assert (?:not )?(?:\(?(?:N\b|[-+]?(?:nan|inf)\b|tensor\(|array\(|"
        r"np\.\w+\()[^\n]*? (?:<|<=|>|>=|==|!=) |.*\b(?:allclose|isclose|equal|approx)\b)",
        "values differ",
        "AssertionError: assert 4.94 < 0.01",
        "AssertionError: assert 'a' == 'b'",
        "pytest's rewritten assert",
    ),
    (
        "assertion",
        "exception",
        "place",
        ("assert", "failed: "),
        r"\A(?:AssertionError\b|assert |Failed: )",
        "an assertion does not hold",
        "AssertionError: assert 'a' == 'b'",
        "RuntimeError: AssertionError was expected",
        "pytest, unittest",
    ),
    ("exception", "exception", "message", (), r"", "", "RuntimeError: boom", "", "everything else"),
)
