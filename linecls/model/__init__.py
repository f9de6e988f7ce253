"""The torch twin of the ONNX graph: backbone, line encoder, head, losses (extra: train)."""
