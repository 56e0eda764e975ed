/// A language's number format, according to CLDR.
///
/// It applies to counts on pages. Numbers in documents are data and are shown as stored.
struct NumberFormat: Sendable {
    /// The digit zero; the other digits have the following code points.
    let zero: Unicode.Scalar
    /// The grouping separator.
    let separator: String
    /// The separator before a fraction.
    let decimalSeparator: String
    /// The size of groups other than the last, which has three digits.
    let groupSize: Int

    /// Formats an integer: `1,048,576` in English, `۱٬۰۴۸٬۵۷۶` in Persian, `১০,৪৮,৫৭৬` in Bengali.
    func text(_ number: some BinaryInteger) -> String {
        let digits = Array(String(number.magnitude).utf8)
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            let rest = digits.count - index
            if index > 0, rest >= 3, (rest - 3).isMultiple(of: groupSize) { text += separator }
            text.unicodeScalars.append(self.digit(digit))
        }
        return text
    }

    private func digit(_ ascii: UInt8) -> Unicode.Scalar {
        // The ten digits of a script have consecutive code points.
        Unicode.Scalar(zero.value + UInt32(ascii - UInt8(ascii: "0"))) ?? zero
    }
}

extension NumberFormat {
    /// Formats an integer in the language of the page: `1,048,576` in English.
    static func grouped(_ number: some BinaryInteger) -> String {
        Translations.current.language.numberFormat.text(number)
    }

    /// Formats a stored double as the shortest text that parses to the same double.
    ///
    /// The text always has a fraction or an exponent, which distinguishes `1.0` from the integer 1. The other values are `NaN`,
    /// `Infinity` and `-Infinity`.
    static func roundTrip(_ double: Double) -> String {
        if double.isNaN { return "NaN" }
        if double.isInfinite { return double < 0 ? "-Infinity" : "Infinity" }
        return double.description
    }
}

extension Language {
    /// The number format of the language.
    var numberFormat: NumberFormat {
        switch self {
        case .english: NumberFormat(zero: "0", separator: ",", decimalSeparator: ".", groupSize: 3)
        case .bengali: NumberFormat(zero: "\u{09e6}", separator: ",", decimalSeparator: ".", groupSize: 2)
        case .indonesian, .vietnamese: NumberFormat(zero: "0", separator: ".", decimalSeparator: ",", groupSize: 3)
        case .persian: NumberFormat(zero: "\u{06f0}", separator: "\u{066c}", decimalSeparator: "\u{066b}", groupSize: 3)
        case .russian: NumberFormat(zero: "0", separator: "\u{a0}", decimalSeparator: ",", groupSize: 3)
        }
    }
}
