/// The unit of the values in a chart.
enum ChartUnit {
    case number
    case seconds
    case bytes

    /// Returns a value in words.
    func text(_ value: Double) -> String {
        switch self {
        case .number: NumberFormat.short(value)
        case .bytes: ByteSize.text(Int(value))
        case .seconds where value >= 1: localized("{count} s", ["count": NumberFormat.short(value)])
        case .seconds: localized("{count} ms", ["count": NumberFormat.short(value * 1_000)])
        }
    }

    /// Returns the least round value that is not below another: 1, 2 or 5 times a power of ten, or a power of two for bytes.
    func limit(above value: Double) -> Double {
        guard value > 0 else { return minimumLimit }
        var limit = minimumLimit
        if self == .bytes {
            while limit < value { limit *= 2 }
            return limit
        }
        while true {
            for factor in [1.0, 2, 5] where limit * factor >= value { return limit * factor }
            limit *= 10
        }
    }

    /// The least limit, so that noise does not fill a chart.
    private var minimumLimit: Double {
        switch self {
        case .number: 1
        case .seconds: 0.001
        case .bytes: 1_024
        }
    }
}

extension NumberFormat {
    /// Formats a number with at most three significant digits, or as an integer if it is large: `0.25`, `12.5`, `1,234`.
    static func short(_ value: Double) -> String {
        let digits = value < 1 ? 100.0 : value < 100 ? 10 : 1
        let hundredths = Int((value * digits).rounded()) * Int(100 / digits)
        return Translations.current.language.numberFormat.text(hundredths: hundredths)
    }

    private func text(hundredths: Int) -> String {
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        guard rest > 0 else { return text(whole) }
        let digits = rest.isMultiple(of: 10) ? [rest / 10] : [rest / 10, rest % 10]
        return digits.reduce(text(whole) + decimalSeparator) { $0 + text($1) }
    }
}
