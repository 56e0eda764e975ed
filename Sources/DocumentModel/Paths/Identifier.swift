internal import UTF8Text

/// Validation and ordering shared by collection IDs and document IDs.
enum Identifier {
    /// The kind of ID, which determines some rules and the wording of errors.
    enum Kind: String {
        case collection = "collection ID"
        case document = "document ID"
    }

    /// Validates an ID.
    static func validate(_ id: Substring.UTF8View, as kind: Kind) throws(StatusError) {
        if id.withContiguousStorageIfAvailable(isPlain) == true { return }
        if let reason = invalidReason(id, as: kind) {
            throw StatusError(.invalidArgument, "The \(kind.rawValue) \(Excerpt(Substring(id))) \(reason)")
        }
    }

    /// Returns the reason that an ID is invalid and the remedy, as the end of a sentence about it, or `nil` if it is valid.
    private static func invalidReason(_ id: Substring.UTF8View, as kind: Kind) -> String? {
        if id.isEmpty {
            return "is empty. Use 1 to \(DocumentLimits.maximumNameBytes) bytes."
        }
        if id.count > DocumentLimits.maximumNameBytes {
            return "is \(id.count) bytes long; the maximum is \(DocumentLimits.maximumNameBytes). Shorten it."
        }
        if id.contains(UInt8(ascii: "/")) {
            return "contains a slash, which separates the IDs of a path. Use another character."
        }
        if id.contains(0) {
            return "contains a NUL character. Remove it."
        }
        if id.elementsEqual(".".utf8) || id.elementsEqual("..".utf8) {
            return "is not allowed, because it denotes a folder. Use another ID."
        }
        if isReserved(id), kind == .collection || number(of: id) == nil {
            return "is reserved, like all IDs that begin and end with two underscores. Use another ID."
        }
        return nil
    }

    /// Returns whether an ID consists of printable ASCII characters, and begins with none of those of special IDs. Such an ID is
    /// valid, and sorts by its bytes. Nearly all are.
    static func isPlain(_ id: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = id.first, first != UInt8(ascii: "_"), first != UInt8(ascii: "."),
            id.count <= DocumentLimits.maximumNameBytes
        else { return false }
        return id.allSatisfy { $0 >= 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }
    }

    /// Returns whether the bytes match `__.*__`, which is reserved in IDs and field names.
    static func isReserved(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        name.count >= 4 && name.starts(with: "__".utf8) && name.suffix(2).elementsEqual("__".utf8)
    }

    /// Returns the number in `__id<number>__`, or `nil` for any other ID.
    ///
    /// Accepts only the shortest decimal form, so that different IDs never have the same number.
    static func number(of id: Substring.UTF8View) -> Int64? {
        guard id.first == UInt8(ascii: "_"), id.count > 6, id.starts(with: "__id".utf8), isReserved(id) else { return nil }
        let text = id.dropFirst(4).dropLast(2)
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text
        guard let first = digits.first, first != UInt8(ascii: "0") || text.count == 1 else { return nil }
        // Accumulates negative values: their range is larger by one.
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

    /// Compares two IDs: numeric IDs first, by number, then all others by bytes.
    static func compare(_ left: Substring.UTF8View, _ right: Substring.UTF8View) -> Comparison {
        switch (number(of: left), number(of: right)) {
        case (let left?, let right?): Comparison(left, right)
        case (_?, nil): .less
        case (nil, _?): .greater
        case (nil, nil): Comparison(bytes: left, right)
        }
    }
}
