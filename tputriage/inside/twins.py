"""The same test on another device, where a test's name says which device it is for.

PyTorch's device-generic tests (`instantiate_device_type_tests`) are made once for each device that is there:
`TestOpsPRIVATEUSE1::test_add_tpu_float32` on the device is `TestOpsCPU::test_add_cpu_float32` on the reference.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .session import Session

_DEVICES = "cpu|tpu|cuda|xpu|xla|mps|hpu|privateuse1"
_CLASS = re.compile(rf"(?P<class>::\w+?)(?P<device>{_DEVICES.upper()})(?=::)")
_NAME = re.compile(rf"_(?:{_DEVICES})(?=_|\[|\Z)")


def twin(test_id: str, session: Session) -> str:
    """The collected test that is this one on the session's own device; `test_id` itself where there is none."""
    if test_id in session.items:
        return test_id
    found = [name for name in _spellings(test_id, session.device) if name in session.items]
    return found[0] if len(found) == 1 else test_id


def _spellings(test_id: str, device: str) -> set[str]:
    """Every way to name it for `device`: a test's own name may hold a device's word too, and only one is the device."""
    owner = _CLASS.search(test_id)
    if owner is None:
        return set()
    name = test_id[owner.end() :]
    names = {f"{name[: word.start()]}_{device}{name[word.end() :]}" for word in _NAME.finditer(name)}
    classes = {device.upper(), "PRIVATEUSE1"} if device != "cpu" else {"CPU"}
    head = test_id[: owner.start()] + owner["class"]
    return {f"{head}{suffix}{spelled}" for suffix in classes for spelled in names}
