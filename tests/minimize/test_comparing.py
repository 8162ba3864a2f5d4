"""A script in which nothing but a comparison knows the device shows no bug of it."""

import pytest

from tputriage.minimize.comparing import only_compares_the_device

HEAD = "import sys\nimport torch\ndevice = sys.argv[1] if len(sys.argv) > 1 else 'tpu'\n"


@pytest.mark.parametrize(
    "body",
    [
        "assert torch.ones(1).device == device",
        "device = torch.device(device)\nx = torch.ones(1)\nassert x.device == device",
        "assert torch.ones(1).device == torch.device(sys.argv[1])",
        "def test(device):\n    assert torch.ones(1).device == device\ntest(torch.device(device))",
        "def test(place):\n    assert torch.ones(1).device == place\ntest(place=torch.device(device))",
        "{'cpu': 1}[device]",
        "{'cpu': 1}[torch.device(device).type]",
        "if device.startswith('tpu'):\n    raise ValueError",
        "match device.split(':')[0]:\n    case 'tpu':\n        raise ValueError",
        "assert not device.endswith('pu:0') and 1",
    ],
)
def test_a_tensor_that_stays_on_the_host_is_no_bug(body):
    assert only_compares_the_device(HEAD + body)


@pytest.mark.parametrize(
    "body",
    [
        "assert torch.ones(1).to(device).device == device",
        "x = torch.ones(1, device=device)\nassert x.device == torch.device(device)",
        "def test(device):\n    x = torch.ones(1, device=device)\n    assert x.device == device\ntest(device)",
        "with torch.device(device):\n    assert torch.ones(1).device == device",
        "import os\nos.environ['DEVICE'] = device\nassert make().device == device",
        "torch.ones(1).to(device)",
        "torch.ones(1, device=device.split(':')[0])",
        "torch.ones(1, device=torch.device(device).type)",
        "if device == 'tpu':\n    torch.ones(1, device=device)",
        "f[1].to(device)",
        "print(1)",
        "",
    ],
)
def test_what_is_made_on_the_device_counts(body):
    assert not only_compares_the_device(HEAD + body)


def test_a_deep_tree_is_followed_to_its_end():
    deep = " + ".join(["device"] * 500)
    assert only_compares_the_device(f"{HEAD}x = {{'cpu': 1}}[device]\nf(({' + '.join('a' * 500)}).sum()[0])")
    assert not only_compares_the_device(f"{HEAD}f(({deep}).sum()[0])")
