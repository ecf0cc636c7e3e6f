#!/usr/bin/python3
"""Trains the digits model in PyTorch and writes it beside this script, with held-out images and PyTorch's answers.

Needs PyTorch, scikit-learn and NumPy (Debian: python3-torch, python3-sklearn). Takes seconds and no options.
README.md in this folder says what each file holds. One thread, fixed seeds: the same versions on the same kind of CPU
write the same bytes.
"""
import json
import pathlib

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import safetensors_file

HERE = pathlib.Path(__file__).resolve().parent
SEED = 20240601
HELD_OUT = 360
CSV_ROWS = 20
EPOCHS = 40
BATCH = 32


def load():
    """Images as float32 in 0..1 (sixteenths, so exact in every type used here) and labels, split per class."""
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)
    labels = digits.target.astype(np.int64)
    return train_test_split(images, labels, test_size=HELD_OUT, stratify=labels, random_state=SEED)


def network():
    return torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.ReLU(),
        torch.nn.Linear(128, 64), torch.nn.ReLU(),
        torch.nn.Linear(64, 10),
    )


def train(images, labels):
    """Adam with weight decay and a falling rate; the held-out images play no part in it."""
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(BATCH):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images[rows]), labels[rows]).backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def as_type(state, name, dtype):
    """The weights rounded to nearest even to `dtype`, as entries for safetensors_file.build()."""
    def raw(tensor):
        tensor = tensor.to(dtype).contiguous()
        return tensor.view(torch.int32 if dtype == torch.float32 else torch.int16).numpy().tobytes()
    return [(key, name, tuple(tensor.shape), raw(tensor)) for key, tensor in state.items()]


def logits_of(state, images, dtype):
    """PyTorch's float32 logits with the weights rounded to `dtype` and widened again, which is what clayer computes."""
    model = network()
    model.load_state_dict({key: tensor.to(dtype).float() for key, tensor in state.items()})
    with torch.no_grad():
        return model(images).numpy()


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(SEED)

    train_x, test_x, train_y, test_y = load()
    model = train(torch.from_numpy(train_x), torch.from_numpy(train_y))
    state = model.state_dict()

    metadata = {
        "format": "pt",
        "model": "MLP 64-128-64-10, ReLU between layers",
        "data": "UCI Optical Recognition of Handwritten Digits (Alpaydin, Kaynak), CC BY 4.0",
        "torch": torch.__version__,
    }
    types = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
    files = {"digits": ("F32", 0), "digits_f16": ("F16", 0), "digits_bf16": ("BF16", 0), "digits_odd": ("F32", 1)}
    for stem, (name, data_start) in files.items():
        blob = safetensors_file.build(as_type(state, name, types[name]), metadata, data_start)
        (HERE / f"{stem}.safetensors").write_bytes(blob)

    images = torch.from_numpy(test_x)
    logits = {name: logits_of(state, images, dtype) for name, dtype in types.items()}
    right = {name: int((answer.argmax(1) == test_y).sum()) for name, answer in logits.items()}
    top = np.sort(logits["F32"], axis=1)
    np.save(HERE / "digits_test.npy", np.ascontiguousarray(test_x))
    np.save(HERE / "digits_labels.npy", test_y)
    np.save(HERE / "digits_logits.npy", np.ascontiguousarray(logits["F32"]))
    rows = [",".join(f"{value:.9g}" for value in row) for row in test_x[:CSV_ROWS]]
    (HERE / "digits_test.csv").write_text("\n".join(rows) + "\n")
    summary = {
        "images": HELD_OUT,
        "correct": right["F32"],
        "correct_f16": right["F16"],
        "correct_bf16": right["BF16"],
        "smallest_margin": round(float((top[:, -1] - top[:, -2]).min()), 4),
        "torch": torch.__version__,
    }
    (HERE / "digits.json").write_text(json.dumps(summary) + "\n")
    print(json.dumps(summary))
    for name in ("F16", "BF16"):
        rows = np.flatnonzero(logits[name].argmax(1) != logits["F32"].argmax(1)).tolist()
        print(f"{name}: largest logit difference from F32 {np.abs(logits[name] - logits['F32']).max():.3g}, "
              f"images with another answer: {rows}")


if __name__ == "__main__":
    main()
