package checker

// PointsWhereItSays is for the tests outside the package.
var PointsWhereItSays = pointsWhereItSays
