/// A field transform: a change to one field that the server computes from its current value.
public struct FieldTransform: Sendable, Hashable {
    /// The field to change; it need not exist.
    public var field: FieldPath
    /// The operation.
    public var operation: Operation

    /// Creates a transform. Its operand is validated when it is applied.
    public init(field: FieldPath, operation: Operation) {
        self.field = field
        self.operation = operation
    }

    /// The transform operations.
    public enum Operation: Sendable, Hashable {
        /// Sets the field to the commit time, rounded down to the millisecond; the same for all fields and documents of a commit.
        case serverTimestamp
        /// Adds a number. Integer addition saturates at 64 bits; if either operand is a double, so is the sum.
        case increment(Value)
        /// Sets the field to the greater of its value and a number: its value if they are equal, NaN if either is NaN.
        case maximum(Value)
        /// Sets the field to the lesser of its value and a number: its value if they are equal, NaN if either is NaN.
        case minimum(Value)
        /// Appends the values that are not equal to any element of the array, in order.
        case arrayUnion([Value])
        /// Removes all elements that are equal to one of the values.
        case arrayRemove([Value])
    }
}

extension FieldTransform {
    /// Applies the transform.
    ///
    /// - Returns: The result for the caller: the field's new value, or null for array transforms.
    /// - Throws: ``StatusCode/invalidArgument`` if an operand is not a number but has to be one.
    func apply(to fields: inout MapValue, at commitTime: Timestamp) throws(StatusError) -> Value {
        try validateOperand()
        let current = fields[field]
        let new: Value =
            switch operation {
            case .serverTimestamp:
                .timestamp(commitTime.roundedDownToMilliseconds)
            case .increment(let operand):
                operand.added(to: current)
            case .maximum(let operand):
                operand.extremum(with: current, where: .greater)
            case .minimum(let operand):
                operand.extremum(with: current, where: .less)
            case .arrayUnion(let operands):
                .array(current.elements.appendingMissing(from: operands))
            case .arrayRemove(let operands):
                .array(current.elements.removing(allOf: operands))
            }
        fields.set(new, at: field)
        return switch operation {
        case .serverTimestamp, .increment, .maximum, .minimum: new
        case .arrayUnion, .arrayRemove: .null
        }
    }

    /// Validates that the operand is a number, if the operation requires one.
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
                "Expected an integer or a double as the operand of \(operation), found a value of a different type.",
                field: field.description
            )
        }
    }
}

extension FieldTransform {
    /// Validates the number of transforms that a commit applies to a document.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the document.
    package static func validateCount(_ count: Int, at path: DocumentPath) throws(StatusError) {
        guard count <= DocumentLimits.maximumTransforms else {
            throw StatusError(
                .invalidArgument,
                "Expected at most \(DocumentLimits.maximumTransforms) transforms per document in one commit, found \(count). "
                    + "Split them across several commits.",
                path: path.string
            )
        }
    }

    /// Validates the number of transforms per document in a commit, summed over all writes to the document.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the document and the write that exceeds the limit.
    package static func validateCounts(in writes: [Write]) throws(StatusError) {
        var counts: [DocumentPath: Int] = [:]
        for (index, write) in writes.enumerated() where !write.transforms.isEmpty {
            let count = counts[write.path, default: 0] + write.transforms.count
            counts[write.path] = count
            do throws(StatusError) {
                try validateCount(count, at: write.path)
            } catch {
                throw error.withWriteIndex(index)
            }
        }
    }
}

extension DocumentLimits {
    /// The maximum number of transforms per document in a commit.
    public static let maximumTransforms = 500
}

extension Value {
    /// Returns the sum of this number and the field's current value, which counts as 0 unless it is a number.
    fileprivate func added(to current: Value?) -> Value {
        switch (current, self) {
        case (.integer(let left)?, .integer(let right)): .integer(left.addingSaturating(right))
        case (.integer(let left)?, .double(let right)): .double(Double(left) + right)
        case (.double(let left)?, .integer(let right)): .double(left + Double(right))
        case (.double(let left)?, .double(let right)): .double(left + right)
        default: self
        }
    }

    /// Returns this number if its comparison to the field's current value is `comparison` or the field isn't a number,
    /// otherwise the current value.
    fileprivate func extremum(with current: Value?, where comparison: Comparison) -> Value {
        guard let current, current.isNumber, !isNaN else { return self }
        return !current.isNaN && compared(to: current) == comparison ? self : current
    }
}

extension Value? {
    /// The elements of an array; empty for any other value.
    fileprivate var elements: [Value] {
        if case .array(let elements)? = self { elements } else { [] }
    }
}

extension Int64 {
    fileprivate func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflowed) = addingReportingOverflow(other)
        return overflowed ? (other < 0 ? .min : .max) : sum
    }
}

extension Timestamp {
    /// The time in whole milliseconds, as server timestamps are.
    package var roundedDownToMilliseconds: Timestamp {
        // Never below the minimum, which is a whole second.
        let microseconds = microseconds
        return Timestamp(unchecked: microseconds - microseconds.dividedRoundingDown(by: 1_000).remainder)
    }
}

extension [Value] {
    /// Returns the array with the distinct `values` appended that are not equal to any element, in order.
    fileprivate func appendingMissing(from values: [Value]) -> [Value] {
        let distinct = ValueSet(values)
        var isPresent = distinct.indices.map { _ in false }
        for element in self {
            if let index = distinct.index(of: element) { isPresent[index] = true }
        }
        var result = self
        for value in values {
            guard let index = distinct.index(of: value), !isPresent[index] else { continue }
            isPresent[index] = true
            result.append(value)
        }
        return result
    }

    /// Returns the array without the elements that are equal to one of `values`.
    fileprivate func removing(allOf values: [Value]) -> [Value] {
        let distinct = ValueSet(values)
        return filter { !distinct.contains($0) }
    }
}
