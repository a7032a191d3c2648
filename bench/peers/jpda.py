#!/usr/bin/env python3
"""Filters scans of several targets in clutter by Stone Soup's JPDA, and writes lines that bench/tracks.py scores.

    pip install stonesoup
    python3 bench/peers/jpda.py cross_1.jsonl > jpda.jsonl ; python3 bench/tracks.py jpda.jsonl

The model is that of the scans: targets of nearly constant velocity (acceleration .1414), which are detected with probability 1 - exp(-.9), sd of a
return 1, 10 returns of clutter on 200 x 200. JPDA knows of at most one return a target.
"""
import datetime
import json
import math
import sys

import numpy as np
from stonesoup.dataassociator.probability import JPDA
from stonesoup.hypothesiser.probability import PDAHypothesiser
from stonesoup.models.measurement.linear import LinearGaussian
from stonesoup.models.transition.linear import CombinedLinearGaussianTransitionModel, ConstantVelocity
from stonesoup.predictor.kalman import KalmanPredictor
from stonesoup.types.array import StateVectors
from stonesoup.types.detection import Detection
from stonesoup.types.state import GaussianState
from stonesoup.types.track import Track
from stonesoup.functions import gm_reduce_single
from stonesoup.types.update import GaussianStateUpdate
from stonesoup.updater.kalman import KalmanUpdater

START = [[-50, 1.7, -40, 1.3], [-50, 1.7, 40, -1.3], [55, -1.8, 2, 0]]  # x, vx, y, vy
ORDER = [0, 2, 1, 3]  # to x, y, vx, vy


def main():
    epoch = datetime.datetime(2024, 1, 1)
    motion = CombinedLinearGaussianTransitionModel([ConstantVelocity(0.1414 ** 2)] * 2)
    sensor = LinearGaussian(4, (0, 2), np.eye(2))
    predictor, updater = KalmanPredictor(motion), KalmanUpdater(sensor)
    associator = JPDA(PDAHypothesiser(predictor, updater, clutter_spatial_density=10 / 4e4, prob_detect=1 - math.exp(-0.9), prob_gate=0.9999))
    tracks = [Track([GaussianState(np.array(m, dtype=float)[:, None], np.diag([1, 0.25, 1, 0.25]), timestamp=epoch)]) for m in START]
    for text in open(sys.argv[1]):
        scan = json.loads(text)
        time = epoch + datetime.timedelta(seconds=scan["time"])
        detections = {Detection(np.array(z)[:, None], timestamp=time, measurement_model=sensor) for z in scan["measurements"]}
        for track, hypotheses in associator.associate(set(tracks), detections, time).items():
            states, weights = [], []
            for h in hypotheses:
                state = updater.update(h) if h else h.prediction
                states.append(state)
                weights.append(float(h.probability))
            mean, cov = gm_reduce_single(StateVectors([s.state_vector for s in states]), np.stack([s.covar for s in states], axis=2), np.array(weights))
            track.append(GaussianStateUpdate(mean, cov, hypotheses, time))
        line = {"time": scan["time"], "truth": scan["truth"], "tracks": [
            {"id": str(i + 1), "mean": [float(t.state_vector[k, 0]) for k in ORDER], "cov": [[float(t.covar[k, m]) for m in ORDER] for k in ORDER]}
            for i, t in enumerate(tracks)]}
        print(json.dumps(line))


main()
