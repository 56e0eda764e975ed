/// What collection ids and document ids have in common: the rules on their bytes, and their order.
enum Identifier {
    /// What an id names, which decides some rules and the words of the errors.
    enum Kind: String {
        case collection = "collection id"
        case document = "document id"
    }

    /// Checks every rule for an id.
    static func validate(_ id: Substring.UTF8View, as kind: Kind) throws(StatusError) {
        if let fault = fault(of: id, as: kind) {
            throw StatusError(.invalidArgument, "The \(kind.rawValue) \(Excerpt(Substring(id))) \(fault)")
        }
    }

    /// What is wrong with an id and what to do, as the end of a sentence about it.
    private static func fault(of id: Substring.UTF8View, as kind: Kind) -> String? {
        if id.isEmpty {
            return "is empty. Use 1 to \(DocumentLimits.maximumNameBytes) bytes."
        }
        if id.count > DocumentLimits.maximumNameBytes {
            return "has \(id.count) bytes, and at most \(DocumentLimits.maximumNameBytes) are allowed. Shorten it."
        }
        if id.contains(UInt8(ascii: "/")) {
            return "contains a slash, which separates the ids of a path. Use another character."
        }
        if id.contains(0) {
            return "contains a NUL character. Remove it."
        }
        if id.elementsEqual(".".utf8) || id.elementsEqual("..".utf8) {
            return "is not allowed, since it means a folder. Use another."
        }
        if isReserved(id), kind == .collection || number(of: id) == nil {
            return "is reserved, as is all that begins and ends with two underscores. Use another."
        }
        return nil
    }

    /// Whether the bytes match `__.*__`, which the database keeps for itself in ids and field names.
    static func isReserved(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        name.count >= 4 && name.starts(with: "__".utf8) && name.suffix(2).elementsEqual("__".utf8)
    }

    /// The number in `__id<number>__`; nil for any other id.
    ///
    /// Only the shortest decimal form counts, so that two different ids never have the same number.
    static func number(of id: Substring.UTF8View) -> Int64? {
        guard id.first == UInt8(ascii: "_"), id.count > 6, id.starts(with: "__id".utf8), isReserved(id) else { return nil }
        let text = id.dropFirst(4).dropLast(2)
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text
        guard let first = digits.first, first != UInt8(ascii: "0") || text.count == 1 else { return nil }
        // Counted below zero, where the range of Int64 is larger by one.
        var number: Int64 = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (product, productOverflows) = number.multipliedReportingOverflow(by: 10)
            let (difference, differenceOverflows) = product.subtractingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !productOverflows, !differenceOverflows else { return nil }
            number = difference
        }
        if isNegative { return number }
        return number == .min ? nil : -number
    }

    /// Numeric ids first, by their numbers; all others by their bytes.
    static func compare(_ left: Substring.UTF8View, _ right: Substring.UTF8View) -> Comparison {
        switch (number(of: left), number(of: right)) {
        case (let left?, let right?): Comparison(left, right)
        case (_?, nil): .less
        case (nil, _?): .greater
        case (nil, nil): Comparison(bytes: left, right)
        }
    }
}
