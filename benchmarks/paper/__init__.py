"""The paper's experiments: its study, tables, figures, ablation, synthetic sets and printed figures."""
