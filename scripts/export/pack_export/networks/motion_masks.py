"""HighSync's motion modules attend only to the generated part of a frame: one rectangle per feature size."""

from pathlib import Path

import torch


def read_mask(path: Path) -> torch.Tensor:
    """1 where the picture is generated, [h, w]; the files hold the opposite."""
    import cv2

    picture = cv2.imread(str(path))
    if picture is None:
        raise FileNotFoundError(path)
    return 1 - torch.from_numpy(picture[:, :, 0]).float() / 255


def use_plain_masks(motion_module: type, folder: Path) -> None:
    """
    Makes upstream's motion modules hold their masks as [1, 1, 1, h, w]. Originally they are repeated over channels and
    frames, in half precision on a GPU: gigabytes of equal constants in a graph, where broadcasting does the same. They
    become buffers, which move with the module from device to device.
    """

    def create_mask(self, mask_path, *_):
        mask = read_mask(folder / Path(mask_path).name)[None, None, None]
        # Upstream assigns the result to an attribute with the file's name: torch stores it in the buffer of that name.
        self.register_buffer(Path(mask_path).stem, mask, persistent=False)
        return mask

    motion_module.create_mask = create_mask


def mask_rectangle(mask: torch.Tensor) -> dict:
    """The one rectangle of ones in a mask, borders included. Raises ValueError when the mask is not a rectangle."""
    rows, columns = torch.nonzero(mask.any(1)).ravel().tolist(), torch.nonzero(mask.any(0)).ravel().tolist()
    rectangle = {"top": rows[0], "bottom": rows[-1], "left": columns[0], "right": columns[-1]}
    inside = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    if not bool((inside == 1).all()) or float(mask.sum()) != inside.numel():
        raise ValueError("the mask is not one rectangle")
    return rectangle
