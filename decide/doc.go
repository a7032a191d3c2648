// Package decide turns predictions into decisions: how sure to be, which classes or numbers to keep possible, and when to say "I do not
// know". All of it is learnt from examples that the prediction has not seen.
//
//   - A temperature, or a factor for numbers, corrects a predictive law that is too sure or too modest (temperature.go).
//   - A set of classes (sets.go) or an interval (intervals.go) holds the truth at a promised rate: split-conformal prediction.
//   - A row whose doubt is above a threshold abstains (abstain.go). The doubt is a score of the prediction (scores.go), or what a small
//     network says that has learnt which answers are wrong (classifier.go).
//
// The package takes plain arrays and returns plain data; it reads no file and no clock. A prediction that is NaN never answers: its
// set is all classes, its interval all numbers, and it abstains. Source: Liang et al., Scalable Bayesian Monte Carlo, section 3.8, and the
// papers that the functions name.
package decide
