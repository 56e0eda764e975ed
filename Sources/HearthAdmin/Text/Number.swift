/// How a double is written for people.
enum Number {
    /// The shortest text that reads back as the same double, always with a fraction or exponent, so that `1.0` isn't taken for
    /// the integer 1; `NaN`, `Infinity` and `-Infinity` by name.
    static func text(_ double: Double) -> String {
        if double.isNaN { return "NaN" }
        if double.isInfinite { return double < 0 ? "-Infinity" : "Infinity" }
        return double.description
    }
}
