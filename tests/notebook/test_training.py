"""Where two trainings part: mistakes of a training loop, each planted in one of two that are the same otherwise."""

import pathlib
import tempfile
import unittest

import torch

import decoderscope as ds


def trained(mistake="", optimizer="adamw", seed=0):
    """Twelve steps of a small language model, recorded at 1, 2, 4 and 8."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Embedding(11, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 11))
    decay = 0.0 if mistake == "no decay" else 0.1
    kinds = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}
    made = kinds["adam" if mistake == "adam" else optimizer](model.parameters(), lr=0.01, weight_decay=decay)
    warm_up = torch.optim.lr_scheduler.LambdaLR(made, lambda step: min(1.0, (step + (0 if mistake == "warm-up" else 1)) / 4))
    data = torch.Generator().manual_seed(1)
    with ds.Training(model, made) as training:
        for step in range(1, 13):
            tokens = torch.randint(0, 11, (4, 6), generator=data)
            if mistake == "batch" and step == 4:
                tokens = tokens.flip(0)
            loss = torch.nn.functional.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:],
                                                     reduction="sum" if mistake == "sum" else "mean")
            if mistake != "no zero" or step == 1:
                made.zero_grad()
            loss.backward()
            if mistake != "no clip":
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            made.step()
            warm_up.step()
    return training.recording


class Trainings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.right = trained()

    def check_parts(self, mistake, step, name, text):
        found = ds.part(trained(mistake), self.right)
        self.assertFalse(found)
        self.assertEqual(found.step, step, found.text)
        self.assertRegex(found.name, name)
        self.assertRegex(found.text, text)

    def test_two_that_are_the_same_agree(self):
        found = ds.part(trained(), self.right)
        self.assertTrue(found, found.text)
        self.assertRegex(found.text, r"^\d+ tensors of steps 0, 1, 2, 4, 8 agree\.$")

    def test_each_mistake_is_named_by_its_step_and_tensor(self):
        self.check_parts("sum", 1, "^loss$", "It is 20 times what is expected")
        self.check_parts("no zero", 2, "^grad\\.", "the loss agrees, its gradients don't")
        self.check_parts("no clip", 1, "^grad\\.", r"It is \d\.\d+ times what is expected")
        self.check_parts("warm-up", 1, "^lr\\.0$", "0, expected 0.0025; the gradients agree, the learning rate doesn't")
        self.check_parts("no decay", 1, "^param\\.", r"as from a weight decay that is 0\.1 smaller")
        self.check_parts("adam", 1, "^state\\.", "the optimiser's state doesn't")
        self.check_parts("batch", 4, "^in\\.0$", "the model is given something else\\.\nStep 2 agrees")

    def test_gradients_that_are_not_set_to_0_are_recognised(self):
        def steps(zero):
            model = torch.nn.Linear(3, 2)
            torch.nn.init.ones_(model.weight)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
            with ds.Training(model, optimizer) as training:
                for step in range(2):
                    if zero:
                        optimizer.zero_grad()
                    (model(torch.ones(1, 3) * (step + 1)) ** 2).sum().backward()
                    optimizer.step()
            return training.recording

        torch.manual_seed(0)
        wrong = steps(False)
        torch.manual_seed(0)
        found = ds.part(wrong, steps(True))
        self.assertEqual((found.step, found.name), (2, "grad.weight"))
        self.assertIn("gradients are not set to 0 in between", found.text)

    def test_another_seed_begins_with_other_parameters(self):
        found = ds.part(trained(seed=1), self.right)
        self.assertEqual(found.step, 0)
        self.assertIn("they begin with other parameters", found.text)

    def test_what_was_wrapped_is_as_it_was_also_after_an_error(self):
        backward = torch.Tensor.backward
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        before = optimizer.__dict__.get("step")
        with self.assertRaises(ZeroDivisionError), ds.Training(model, optimizer) as training:
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            raise ZeroDivisionError
        self.assertIs(torch.Tensor.backward, backward)
        self.assertIs(optimizer.__dict__.get("step"), before)
        self.assertEqual(len(model._forward_pre_hooks), 0)
        self.assertIn("step 1/loss", training.recording)

    def test_what_only_one_has_is_a_difference(self):
        def trained_once(detached):
            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
            for parameter in model.parameters():
                torch.nn.init.ones_(parameter)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            with ds.Training(model, optimizer) as training:
                model(torch.ones(1, 2))
                hidden = model[0](torch.ones(1, 2))
                model[1](hidden.detach() if detached else hidden).sum().backward()
                optimizer.step()
            return training.recording

        found = ds.part(trained_once(True), trained_once(False))
        self.assertEqual((found.step, found.name), (1, "grad.0.weight"))
        self.assertIn("grad.0.weight is only in the reference", found.text)

    def test_two_side_by_side_have_their_own_losses(self):
        models = [torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)]
        optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
        with ds.Training(models[0], optimizers[0]) as first, ds.Training(models[1], optimizers[1]) as second:
            losses = [model(torch.ones(1, 2)).sum() for model in models]
            for loss in losses:
                loss.backward()
            for optimizer in optimizers:
                optimizer.step()
        for training, loss in zip((first, second), losses):
            self.assertEqual(float(training.recording["step 1/loss"]), float(loss))

    def test_files_and_what_is_none(self):
        with tempfile.TemporaryDirectory() as out:
            path = pathlib.Path(out) / "right.safetensors"
            path.write_bytes(self.right.data)
            self.assertTrue(ds.part(path, path))
        other = ds.record(torch.nn.Identity(), torch.ones(2))
        with self.assertRaisesRegex(ds.Problem, "no tensor of the same name"):
            ds.part(other, self.right)
        with self.assertRaisesRegex(ds.Problem, "expected a tensor of a training"):
            ds.part(other, other)
        with self.assertRaisesRegex(ds.Problem, "has not ended"):
            ds.Training(torch.nn.Linear(1, 1), None).save("nowhere")


if __name__ == "__main__":
    unittest.main()
