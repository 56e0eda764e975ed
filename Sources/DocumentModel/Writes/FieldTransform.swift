/// A change of one field that the server computes from the field as it is.
public struct FieldTransform: Sendable, Hashable {
    /// The field that changes; it need not exist.
    public var field: FieldPath
    /// How it changes.
    public var operation: Operation

    /// Makes a transform; its operand is checked when it is applied.
    public init(field: FieldPath, operation: Operation) {
        self.field = field
        self.operation = operation
    }

    /// The ways to compute a field.
    public enum Operation: Sendable, Hashable {
        /// The time of the commit, to the millisecond, the same for all fields and documents of the commit.
        case serverTimestamp
        /// The field plus a number. Integers stay within 64 bits; a double on either side makes the sum a double.
        case increment(Value)
        /// The greater of the field and a number; the field when they are equal, NaN when either is.
        case maximum(Value)
        /// The lesser of the field and a number; the field when they are equal, NaN when either is.
        case minimum(Value)
        /// The array with those of these values added at its end, in order, that equal none in it yet.
        case arrayUnion([Value])
        /// The array without all elements that equal one of these values.
        case arrayRemove([Value])
    }
}

extension FieldTransform {
    /// Changes the field.
    ///
    /// - Returns: The transform's result for the caller: the field's new value, or null for arrays.
    /// - Throws: ``StatusCode/invalidArgument`` when an operand must be a number and isn't.
    func apply(to fields: inout MapValue, at commitTime: Timestamp) throws(StatusError) -> Value {
        try validateOperand()
        let current = fields[field]
        let new: Value =
            switch operation {
            case .serverTimestamp:
                .timestamp(commitTime.flooredToMillisecond)
            case .increment(let operand):
                operand.added(to: current)
            case .maximum(let operand):
                operand.extremum(with: current, where: .greater)
            case .minimum(let operand):
                operand.extremum(with: current, where: .less)
            case .arrayUnion(let operands):
                .array(current.elements.appending(missingFrom: operands))
            case .arrayRemove(let operands):
                .array(current.elements.removing(allOf: operands))
            }
        fields.set(new, at: field)
        return switch operation {
        case .serverTimestamp, .increment, .maximum, .minimum: new
        case .arrayUnion, .arrayRemove: .null
        }
    }

    /// Checks that the operand is a number where it must be one.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the field.
    package func validateOperand() throws(StatusError) {
        switch operation {
        case .increment(let operand): try validate(operand, of: "increment")
        case .maximum(let operand): try validate(operand, of: "maximum")
        case .minimum(let operand): try validate(operand, of: "minimum")
        case .serverTimestamp, .arrayUnion, .arrayRemove: break
        }
    }

    private func validate(_ operand: Value, of operation: String) throws(StatusError) {
        guard operand.isNumber else {
            throw StatusError(
                .invalidArgument,
                "Expected an integer or a double as operand of \(operation), found another type.",
                field: field.description
            )
        }
    }
}

extension Value {
    /// A number's sum with what a field holds, which counts as nothing unless it is a number.
    fileprivate func added(to current: Value?) -> Value {
        switch (current, self) {
        case (.integer(let left)?, .integer(let right)): .integer(left.addingSaturated(right))
        case (.integer(let left)?, .double(let right)): .double(Double(left) + right)
        case (.double(let left)?, .integer(let right)): .double(left + Double(right))
        case (.double(let left)?, .double(let right)): .double(left + right)
        default: self
        }
    }

    /// A number, or what a field holds unless that is no number or this one compares to it as `comparison` says.
    fileprivate func extremum(with current: Value?, where comparison: Comparison) -> Value {
        guard let current, current.isNumber, !isNaN else { return self }
        return !current.isNaN && compared(to: current) == comparison ? self : current
    }
}

extension Value? {
    /// The elements of an array; whatever else a field holds counts as an empty one.
    fileprivate var elements: [Value] {
        if case .array(let elements)? = self { elements } else { [] }
    }
}

extension Int64 {
    fileprivate func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflowed) = addingReportingOverflow(other)
        return overflowed ? (other < 0 ? .min : .max) : sum
    }
}

extension Timestamp {
    fileprivate var flooredToMillisecond: Timestamp {
        // Never before the minimum, which is a whole second.
        let microseconds = microseconds
        return Timestamp(unchecked: microseconds - microseconds.dividedRoundingDown(by: 1_000).remainder)
    }
}
