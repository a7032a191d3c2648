"""Writes data/ from a checkout of posteriordb: the data that the models read, and moments of the reference draws.

    python3 make.py CHECKOUT

Reference draws are 10 chains of 1,000 thinned draws. The Monte Carlo standard errors (MCSE) are those of 100 batches of 100.
"""
import json, math, os, sys, zipfile

POSTERIORS = {  # name: data set, the data that the model reads
    "arK-arK": ("arK", ["y"]),
    "earnings-earn_height": ("earnings", ["earn", "height"]),
    "earnings-logearn_interaction": ("earnings", ["earn", "height", "male"]),
    "eight_schools-eight_schools_noncentered": ("eight_schools", ["y", "sigma"]),
    "garch-garch11": ("garch", ["y", "sigma1"]),
    "gp_pois_regr-gp_regr": ("gp_pois_regr", ["x", "y"]),
    "hudson_lynx_hare-lotka_volterra": ("hudson_lynx_hare", ["y_init", "y"]),
    "kidiq-kidscore_interaction": ("kidiq", ["kid_score", "mom_hs", "mom_iq"]),
    "kidiq-kidscore_momiq": ("kidiq", ["kid_score", "mom_iq"]),
    "kilpisjarvi_mod-kilpisjarvi": ("kilpisjarvi_mod", ["x", "y", "pmualpha", "psalpha", "pmubeta", "psbeta"]),
    "mesquite-mesquite": ("mesquite", ["weight", "diam1", "diam2", "canopy_height", "total_height", "density", "group"]),
    "nes1980-nes": ("nes1980", ["partyid7", "real_ideo", "race_adj", "age_discrete", "educ1", "gender", "income"]),
    "one_comp_mm_elim_abs-one_comp_mm_elim_abs": ("one_comp_mm_elim_abs", ["D", "V", "times", "C_hat"]),
    "sblri-blr": ("sblri", ["X", "y"]),
}
LOG = {"one_comp_mm_elim_abs-one_comp_mm_elim_abs"}  # moments of the logarithms: K_m and V_m have no variance


def read(path):
    with zipfile.ZipFile(path) as z:
        return json.loads(z.read(z.namelist()[0]))


def mean(x):
    return math.fsum(x) / len(x)


def error(x):
    """MCSE of the mean of all chains, one after the other."""
    batches = [mean(x[i : i + 100]) for i in range(0, len(x), 100)]
    centre = mean(batches)
    return math.sqrt(mean([(b - centre) ** 2 for b in batches]) / (len(batches) - 1))


def moments(name, x):
    m = mean(x)
    square = [(v - m) ** 2 for v in x]
    sd = math.sqrt(mean(square))
    return {"name": name, "mean": m, "mean_mcse": error(x), "sd": sd, "sd_mcse": error(square) / (2 * sd)}


def main():
    base = os.path.join(sys.argv[1], "posterior_database")
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
    columns, reference = {}, {}
    for posterior, (data, names) in POSTERIORS.items():
        columns.setdefault(data, set()).update(names)
        chains = read(f"{base}/reference_posteriors/draws/draws/{posterior}.json.zip")
        reference[posterior] = []
        for name in chains[0]:
            x = [v for c in chains for v in c[name]]
            if posterior in LOG:
                name, x = f"log {name}", [math.log(v) for v in x]
            reference[posterior].append(moments(name, x))
    for data, names in columns.items():
        x = read(f"{base}/data/data/{data}.json.zip")
        with open(f"{here}/{data}.json", "w") as f:
            json.dump({k: x[k] for k in sorted(names)}, f, separators=(",", ":"))
            f.write("\n")
    with open(f"{here}/reference.json", "w") as f:
        lines = []
        for posterior, rows in sorted(reference.items()):
            rows = ",\n  ".join(json.dumps({k: v if k == "name" else float(f"{v:.9g}") for k, v in r.items()}) for r in rows)
            lines.append(f" {json.dumps(posterior)}: [\n  {rows}]")
        f.write("{\n" + ",\n".join(lines) + "\n}\n")


main()
