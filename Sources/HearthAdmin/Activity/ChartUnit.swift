/// The unit of the values in a chart.
enum ChartUnit {
    /// Events per second.
    case rate
    /// Whole numbers.
    case count
    case seconds
    case bytes

    /// Returns a value in words.
    func text(_ value: Double) -> String {
        switch self {
        case .rate, .count: NumberFormat.short(value)
        case .bytes: ByteSize.text(Int(clamping: value))
        case .seconds where value >= 1: localized("{count} s", ["count": NumberFormat.short(value)])
        case .seconds: localized("{count} ms", ["count": NumberFormat.short(value * 1_000)])
        }
    }

    /// Returns the least round value that is not below another: 1, 2 or 5 times a power of ten, twice that for counts, whose half is
    /// whole then, or a power of two for bytes.
    func limit(above value: Double) -> Double {
        var limit = minimumLimit
        guard value > limit else { return limit }
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
        case .rate: 0.01
        case .count: 2
        case .seconds: 0.001
        case .bytes: 1_024
        }
    }
}

extension NumberFormat {
    /// Formats a number with at most three significant digits, or as an integer if it is large: `0.025`, `12.5`, `1,234`.
    static func short(_ value: Double) -> String {
        let format = Translations.current.language.numberFormat
        guard value < 100 else { return format.text(Int(clamping: value)) }
        let units = value < 0.1 ? 1_000.0 : value < 1 ? 100 : 10
        return format.text(thousandths: Int(clamping: value * units) * Int(1_000 / units))
    }

    private func text(thousandths: Int) -> String {
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1_000)
        guard rest > 0 else { return text(whole) }
        var digits = [rest / 100, rest / 10 % 10, rest % 10]
        while digits.last == 0 { digits.removeLast() }
        return digits.reduce(text(whole) + decimalSeparator) { $0 + text($1) }
    }
}

extension Int {
    /// Creates the integer that is closest to a number; 0 for one that is not a number.
    fileprivate init(clamping value: Double) {
        self = Int(exactly: value.rounded()) ?? (value > 0 ? .max : value < 0 ? .min : 0)
    }
}
