# Means and standard errors by R's survey package, to compare with ours.
# Run here: Rscript numbers.R > numbers.csv

library(survey)
rows <- read.csv("rows.csv")
rows$cost <- ifelse(rows$actual == 1 & rows$decided == 0, 10, ifelse(rows$decided > rows$actual, 1, 0))
rows$one <- 1
shares <- c(a = .6, b = .3, c = .1)
sizes <- c(a = 600, b = 300, c = 100)
priors <- c(`0` = .9, `1` = .1)

# What each row stands for, in strata (or classes) whose shares are known.
standing <- function(of, share) share[as.character(of)] / ave(rep(1, length(of)), of, FUN = sum)
by_stratum <- data.frame(stratum = names(shares), Freq = as.vector(shares))
by_class <- data.frame(actual = as.integer(names(priors)), Freq = as.vector(priors))
after <- function(design) postStratify(design, ~stratum, by_stratum)
in_use <- function(design) postStratify(design, ~actual, by_class)
both <- function(design) rake(design, list(~stratum, ~actual), list(by_stratum, by_class),
                              control = list(maxit = 500, epsilon = 1e-13))

rows$in_stratum <- standing(rows$stratum, shares)
rows$in_class <- standing(rows$actual, priors)
rows$finite <- sizes[rows$stratum]
options(survey.lonely.psu = "fail")

designs <- list(
  simple = svydesign(~1, weights = ~one, data = rows),
  weights = svydesign(~1, weights = ~weight, data = rows),
  groups = svydesign(~crossing, weights = ~one, data = rows),
  "groups, weights" = svydesign(~crossing, weights = ~weight, data = rows),
  strata = svydesign(~1, strata = ~stratum, weights = ~in_stratum, data = rows),
  "strata, rows" = svydesign(~1, strata = ~stratum, fpc = ~finite, data = rows),
  priors = svydesign(~1, strata = ~actual, weights = ~in_class, data = rows),
  "strata, weights" = after(svydesign(~1, strata = ~stratum, weights = ~weight, data = rows)),
  "nested, strata" = after(svydesign(~nested, strata = ~stratum, weights = ~one, data = rows)),
  "nested, strata, weights" =
    after(svydesign(~nested, strata = ~stratum, weights = ~weight, data = rows)),
  "groups, strata" = after(svydesign(~crossing, weights = ~one, data = rows)),
  "groups, strata, weights" = after(svydesign(~crossing, weights = ~weight, data = rows)),
  "groups, priors" = in_use(svydesign(~crossing, weights = ~one, data = rows)),
  "groups, priors, weights" = in_use(svydesign(~crossing, weights = ~weight, data = rows))
)
cat("design,mean,error\n")
line <- function(name, mean, error) cat(sprintf("\"%s\",%.12g,%.12g\n", name, mean, error))
for (name in names(designs)) {
  found <- svymean(~cost, designs[[name]])
  line(name, coef(found), SE(found))
}

# rake() keeps the residuals of its last round only. The derivative of a raked mean by the weight of
# a row is its raked weight times the residual of both margins' regression, with raked weights.
raked <- list(
  "strata, priors" = list(~1, ~one),
  "strata, priors, weights" = list(~1, ~weight),
  "groups, strata, priors" = list(~crossing, ~one),
  "groups, strata, priors, weights" = list(~crossing, ~weight)
)
for (name in names(raked)) {
  design <- both(svydesign(raked[[name]][[1]], weights = raked[[name]][[2]], data = rows))
  rows$raked <- weights(design)
  rows$rest <- resid(lm(cost ~ stratum + factor(actual), rows, weights = raked))
  error <- SE(svytotal(~rest, svydesign(raked[[name]][[1]], weights = ~raked, data = rows)))
  line(name, coef(svymean(~cost, design)), error)
}
