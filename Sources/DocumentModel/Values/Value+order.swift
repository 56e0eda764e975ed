internal import StrictJSON

extension Value {
    /// Where `self` stands to `other` in Firestore's order of all values.
    ///
    /// Types come in the order null, boolean, number, timestamp, string, bytes, reference, geo point, array, vector, map.
    /// Integers and doubles are one line of numbers, compared exactly, with NaN before -Infinity and `-0.0` equal to `0`.
    /// Strings and bytes go by unsigned bytes, references by path segments, geo points by latitude, then longitude,
    /// arrays by elements, vectors by length first, maps by their sorted members. The order is total; values that are
    /// equal in it need not be `==`.
    ///
    /// The depth of the values is the depth of the recursion; a valid document has at most 20 levels.
    public func compared(to other: Value) -> Comparison {
        compared(to: other, seeing: .max)
    }

    /// Whether `other` is the same value to an array transform: 3 equals 3.0, NaN equals NaN, null equals null.
    public func isEqual(to other: Value) -> Bool {
        compared(to: other) == .equal
    }

    /// Where `self` stands to `other` in the order of all values, with texts and bytes as far as they are seen, also those in
    /// arrays and maps.
    ///
    /// - Parameter byteCount: How many bytes of each are compared: ``DocumentLimits/queriedValueBytes`` for a query.
    package func compared(to other: Value, seeing byteCount: Int) -> Comparison {
        switch (self, other) {
        case (.null, .null): .equal
        case (.boolean(let left), .boolean(let right)): Comparison(left ? 1 : 0, right ? 1 : 0)
        case (.integer(let left), .integer(let right)): Comparison(left, right)
        case (.integer(let left), .double(let right)): Comparison(exactly: left, right)
        case (.double(let left), .integer(let right)): Comparison(exactly: right, left).reversed
        case (.double(let left), .double(let right)): Comparison(numbers: left, right)
        case (.timestamp(let left), .timestamp(let right)): Comparison(left, right)
        case (.string(let left), .string(let right)): Comparison(bytes: left.utf8.prefix(byteCount), right.utf8.prefix(byteCount))
        case (.bytes(let left), .bytes(let right)): Comparison(bytes: left.prefix(byteCount), right.prefix(byteCount))
        case (.reference(let left), .reference(let right)): left.compared(to: right)
        case (.geoPoint(let left), .geoPoint(let right)): left.compared(to: right)
        case (.array(let left), .array(let right)): Comparison(left, right) { $0.compared(to: $1, seeing: byteCount) }
        case (.vector(let left), .vector(let right)): Comparison(vectors: left, right)
        case (.map(let left), .map(let right)): left.compared(to: right, seeing: byteCount)
        default: Comparison(typeRank, other.typeRank)
        }
    }

    /// Where `self` stands to `other` for filters, orders and cursors.
    package func comparedInQueries(to other: Value) -> Comparison {
        compared(to: other, seeing: DocumentLimits.queriedValueBytes)
    }

    /// The place of the type among the types; integers and doubles share one.
    var typeRank: UInt8 {
        switch self {
        case .null: 0
        case .boolean: 1
        case .integer, .double: 2
        case .timestamp: 3
        case .string: 4
        case .bytes: 5
        case .reference: 6
        case .geoPoint: 7
        case .array: 8
        case .vector: 9
        case .map: 10
        }
    }
}

extension MapValue {
    /// Member by member in the order of the keys: key, then value; the shorter comes first on a common prefix.
    fileprivate func compared(to other: MapValue, seeing byteCount: Int) -> Comparison {
        Comparison(self, other) { left, right in
            let keys = Comparison(bytes: left.key.utf8, right.key.utf8)
            return keys == .equal ? left.value.compared(to: right.value, seeing: byteCount) : keys
        }
    }
}

extension Comparison {
    /// How the second stands to the first.
    var reversed: Comparison {
        switch self {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }

    /// Doubles by value, with NaN equal to itself and before every other.
    fileprivate init(numbers left: Double, _ right: Double) {
        self =
            switch (left.isNaN, right.isNaN) {
            case (true, true): .equal
            case (true, false): .less
            case (false, true): .greater
            case (false, false): Comparison(left, right)
            }
    }

    /// An integer and a double by their exact values: converting the integer would round beyond 2^53.
    fileprivate init(exactly integer: Int64, _ double: Double) {
        // 2^63 and its negative are doubles, so the whole part of everything between them converts both ways without loss.
        if double.isNaN || double < -0x1p63 {
            self = .greater
        } else if double >= 0x1p63 {
            self = .less
        } else {
            let whole = Int64(double)
            let wholes = Comparison(integer, whole)
            self = wholes == .equal ? Comparison(0, double - Double(whole)) : wholes
        }
    }

    fileprivate init(vectors left: [Double], _ right: [Double]) {
        let lengths = Comparison(left.count, right.count)
        self = lengths == .equal ? Comparison(left, right) { Comparison(numbers: $0, $1) } : lengths
    }
}
