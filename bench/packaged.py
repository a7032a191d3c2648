"""Twelve tables that come with statsmodels, scikit-learn and palmerpenguins, for tables.py: mixed classes and numbers, words, and missing
values where the package's table has them.

On OPEN starling's defaults may be tried. CLOSED are looked at once, at the end. The list was written before the defaults for numbers
were touched. Rows without a target are left out, and so is a column that only names rows (modechoice: individual).
"""

OPEN = ("penguins", "anes", "fair", "grunfeld", "fertility", "engel")
CLOSED = ("mass", "iris", "modechoice", "star98", "counties", "macro")
CLASSES = ("penguins", "anes", "iris", "modechoice")
NUMBERS = ("fair", "grunfeld", "fertility", "engel", "mass", "star98", "counties", "macro")


def statsmodels(name):
    from importlib import import_module
    return import_module("statsmodels.datasets." + name).load_pandas().data


def penguins():
    import palmerpenguins
    return palmerpenguins.load_penguins()


def iris():
    from sklearn.datasets import load_iris
    d = load_iris(as_frame=True)
    t = d.data.rename(columns=lambda n: n.replace(" (cm)", "").replace(" ", "_"))
    return t.assign(species=[d.target_names[k] for k in d.target])


def fertility():
    t = statsmodels("fertility")
    years = [str(y) for y in range(2000, 2011)]
    return t[["Country Name", *years]].rename(columns={"Country Name": "country", **{y: "y" + y for y in years}})


# The table and its target.
TABLES = {
    "penguins": (penguins, "species"),
    "anes": (lambda: statsmodels("anes96"), "vote"),
    "fair": (lambda: statsmodels("fair"), "affairs"),
    "grunfeld": (lambda: statsmodels("grunfeld"), "invest"),
    "fertility": (fertility, "y2010"),
    "engel": (lambda: statsmodels("engel"), "foodexp"),
    "mass": (penguins, "body_mass_g"),
    "iris": (iris, "species"),
    "modechoice": (lambda: statsmodels("modechoice").drop(columns="individual"), "choice"),
    "star98": (lambda: statsmodels("star98"), "NABOVE"),
    "counties": (lambda: statsmodels("cancer"), "cancer"),
    "macro": (lambda: statsmodels("macrodata"), "unemp"),
}


def cells(name):
    """The rows of inputs as text, empty where a value is missing, their names, and the text of the targets."""
    import pandas
    make, target = TABLES[name]
    t = make()
    t = t[t[target].notna()]

    def text(v):
        if pandas.isna(v):
            return ""
        return v if isinstance(v, str) else f"{float(v):.10g}"
    inputs = [c for c in t.columns if c != target]
    return [[text(v) for v in row] for row in t[inputs].itertuples(index=False)], [str(c) for c in inputs], [text(v) for v in t[target]]
