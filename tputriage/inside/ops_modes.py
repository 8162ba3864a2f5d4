"""torch's two modes over a function of ours: calls as the test makes them, and operators as torch dispatches them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

Handler = Callable[[Any, Any, Any], Any]  # is given the function, its arguments and its keywords, and calls it


class FunctionMode(TorchFunctionMode):
    def __init__(self, handler: Handler) -> None:
        super().__init__()
        self._handler = handler

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._handler(func, args, kwargs or {})


class OperatorMode(TorchDispatchMode):
    def __init__(self, handler: Handler) -> None:
        super().__init__()
        self._handler = handler

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._handler(func, args, kwargs or {})
