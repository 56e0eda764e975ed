import DocumentModel

/// The sum and the average of the numbers in a list of values.
struct OracleSum {
    private let numbers: [Value]

    init(_ values: [Value?]) {
        numbers = values.compactMap { value in
            switch value {
            case .integer?, .double?: value
            default: nil
            }
        }
    }

    var sum: Value {
        var total: Int128 = 0
        for case .integer(let integer) in numbers { total += Int128(integer) }
        let isInteger = numbers.allSatisfy { if case .integer = $0 { true } else { false } }
        if isInteger, let integer = Int64(exactly: total) { return .integer(integer) }
        return .double(double)
    }

    var average: Value {
        numbers.isEmpty ? .null : .double(double / Double(numbers.count))
    }

    /// The sum, exact for the values of ``RandomDocuments``: infinities, NaN, and multiples of 0.5 below 2^64.
    private var double: Double {
        var special = 0.0
        var halves: Int128 = 0
        for number in numbers {
            switch number {
            case .integer(let integer): halves += 2 * Int128(integer)
            case .double(let double) where double.isFinite: halves += Int128(2 * double)
            case .double(let double): special += double
            default: break
            }
        }
        return special == 0 ? Double(halves) / 2 : special
    }
}
