internal import UTF8Text

extension Value {
    /// Compares two values in Firestore's total order of all types.
    ///
    /// The type order is null, boolean, number, timestamp, string, bytes, reference, geo point, array, vector, map. Integers
    /// and doubles compare exactly by numeric value, with NaN before -Infinity and `-0.0` equal to `0`. Strings and bytes
    /// compare by unsigned bytes, references by path segment, geo points by latitude, then longitude, arrays by element,
    /// vectors by length, then element, maps by sorted member. Values that compare equal need not be `==`.
    ///
    /// The recursion is as deep as the nesting, which is at most 20 levels in a valid document.
    public func compared(to other: Value) -> Comparison {
        compared(to: other, truncatingAt: .max)
    }

    /// Returns whether the values compare equal, as in array transforms: 3 equals 3.0, NaN equals NaN, null equals null.
    public func isEqual(to other: Value) -> Bool {
        compared(to: other) == .equal
    }

    /// Compares two values, truncating strings and bytes values at any level to `byteCount` bytes.
    ///
    /// - Parameter byteCount: ``DocumentLimits/indexedValueBytes`` for a query.
    package func compared(to other: Value, truncatingAt byteCount: Int) -> Comparison {
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
        case (.array(let left), .array(let right)): Comparison(left, right) { $0.compared(to: $1, truncatingAt: byteCount) }
        case (.vector(let left), .vector(let right)): Comparison(vectors: left, right)
        case (.map(let left), .map(let right)): left.compared(to: right, truncatingAt: byteCount)
        default: Comparison(typeRank, other.typeRank)
        }
    }

    /// Compares two values as filters, orders and cursors do.
    package func comparedInQueries(to other: Value) -> Comparison {
        compared(to: other, truncatingAt: DocumentLimits.indexedValueBytes)
    }

    /// The rank of the type in the order of types. Integers and doubles share a rank.
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
    /// Compares member by member in key order, by key, then value; a prefix sorts first.
    fileprivate func compared(to other: MapValue, truncatingAt byteCount: Int) -> Comparison {
        Comparison(self, other) { left, right in
            let keys = Comparison(bytes: left.key.utf8, right.key.utf8)
            return keys == .equal ? left.value.compared(to: right.value, truncatingAt: byteCount) : keys
        }
    }
}

extension Comparison {
    /// The result of the comparison with swapped operands.
    var reversed: Comparison {
        switch self {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }

    /// Compares two doubles by value, with NaN equal to itself and before all other values.
    fileprivate init(numbers left: Double, _ right: Double) {
        self =
            switch (left.isNaN, right.isNaN) {
            case (true, true): .equal
            case (true, false): .less
            case (false, true): .greater
            case (false, false): Comparison(left, right)
            }
    }

    /// Compares an integer and a double exactly. Converting the integer to a double would round beyond 2^53.
    fileprivate init(exactly integer: Int64, _ double: Double) {
        // ±2^63 are doubles, so the integral part of any double between them converts both ways without loss.
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
