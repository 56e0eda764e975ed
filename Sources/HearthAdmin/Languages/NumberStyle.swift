/// How a language writes whole numbers, as CLDR has it.
///
/// Only for what pages count: the numbers in documents are data, and stay as they are stored.
struct NumberStyle: Sendable {
    /// The digit zero, which the others follow.
    let zero: Unicode.Scalar
    /// What stands between groups of digits.
    let separator: String
    /// How many digits the groups have before the last, which has three.
    let groupSize: Int

    /// Writes a number: `1,048,576` in English, `۱٬۰۴۸٬۵۷۶` in Persian, `১০,৪৮,৫৭৬` in Bengali.
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
        // The ten digits of a script follow each other.
        Unicode.Scalar(zero.value + UInt32(ascii - UInt8(ascii: "0"))) ?? zero
    }
}

extension Language {
    /// How the language writes whole numbers.
    var numberStyle: NumberStyle {
        switch self {
        case .english: NumberStyle(zero: "0", separator: ",", groupSize: 3)
        case .bengali: NumberStyle(zero: "\u{09e6}", separator: ",", groupSize: 2)
        case .indonesian, .vietnamese: NumberStyle(zero: "0", separator: ".", groupSize: 3)
        case .persian: NumberStyle(zero: "\u{06f0}", separator: "\u{066c}", groupSize: 3)
        case .russian: NumberStyle(zero: "0", separator: "\u{a0}", groupSize: 3)
        }
    }
}
