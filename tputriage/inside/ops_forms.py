"""Tensors that are more than their elements and strides: sparse and quantized ones, and conjugated views.

Such a tensor is told as a strided one and what makes it of that: `{}.to_sparse_csr()`.
"""

from __future__ import annotations

from typing import Any

import torch

SPARSE = {
    torch.sparse_csr: "{}.to_sparse_csr()",
    torch.sparse_csc: "{}.to_sparse_csc()",
}
BLOCKS = {torch.sparse_bsr: "bsr", torch.sparse_bsc: "bsc"}


def form_of(tensor: Any) -> tuple[str | None, Any]:
    """(what is done to a strided tensor, around a `{}`, or None where that cannot be said; that one's dtype)."""
    if tensor.is_quantized:
        return _quantized(tensor), torch.float32
    if tensor.layout is torch.strided:
        if tensor.is_neg():
            return None, tensor.dtype
        return "{}.conj()" if tensor.is_conj() else "", tensor.dtype
    if tensor.layout is torch.sparse_coo:
        rest = tensor.sparse_dim() if tensor.dense_dim() else ""
        return f"{{}}.to_sparse({rest})", tensor.dtype
    if tensor.layout in BLOCKS:
        block = tuple(tensor.values().shape[1:3])
        return f"{{}}.to_sparse_{BLOCKS[tensor.layout]}({block})", tensor.dtype
    return SPARSE.get(tensor.layout), tensor.dtype


def _quantized(tensor: Any) -> str | None:
    if tensor.qscheme() is not torch.per_tensor_affine:
        return None
    return f"torch.quantize_per_tensor({{}}, {tensor.q_scale()}, {tensor.q_zero_point()}, {tensor.dtype})"


def without_form(tensor: Any) -> Any:
    """The strided tensor that the form is made of."""
    if tensor.is_quantized:
        return tensor.dequantize()
    if tensor.layout is not torch.strided:
        return tensor.to_dense()
    return tensor.resolve_conj().resolve_neg() if not tensor.is_conj() else tensor.conj()
