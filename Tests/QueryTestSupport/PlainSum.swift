import DocumentModel

/// Sum and mean of the numbers among some values.
struct PlainSum {
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
        let isWhole = numbers.allSatisfy { if case .integer = $0 { true } else { false } }
        if isWhole, let integer = Int64(exactly: total) { return .integer(integer) }
        return .double(double)
    }

    var average: Value {
        numbers.isEmpty ? .null : .double(double / Double(numbers.count))
    }

    /// Exact for what ``RandomDocuments`` hold: infinities, NaN, and multiples of a half below 2^64.
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
