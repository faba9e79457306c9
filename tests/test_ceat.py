"""The random-effects model of 06b_ceat gives the numbers of statsmodels, where statsmodels is installed."""
import numpy as np
import pytest
from numpy.testing import assert_allclose

from biasbook.chapters.ceat import random_effects


@pytest.mark.parametrize('seed', range(20))
def test_random_effects_of_statsmodels(seed):
    meta_analysis = pytest.importorskip('statsmodels.stats.meta_analysis', reason='statsmodels is not installed: pip install statsmodels')
    generator = np.random.default_rng(seed)
    n = generator.integers(2, 200)
    spread = generator.choice([0., .1, 1.])
    variances = generator.gamma(2, .05, n) + .001
    effects = generator.normal(.3, np.sqrt(spread ** 2 + variances))
    theirs = meta_analysis.combine_effects(effects, variances, method_re='dl')
    ours = random_effects(effects, variances)
    if theirs.tau2 > 0:
        expected = [theirs.q, theirs.tau2, theirs.mean_effect_re, theirs.sd_eff_w_re, theirs.sd_eff_w_re_hksj]
    else:                                                   # statsmodels goes on with a variance below 0; ours is 0, as for fixed effects
        expected = [theirs.q, 0, theirs.mean_effect_fe, theirs.sd_eff_w_fe, theirs.sd_eff_w_fe_hksj]
    assert_allclose([ours.q, ours.tau2, ours.mean, ours.se, ours.se_hartung_knapp], expected, rtol=1e-9, atol=1e-12)
