"""The page, the step summary, model_results.json."""
