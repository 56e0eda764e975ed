internal import DocumentModel

/// A number that is made of all documents of a query.
public struct AggregateField: Hashable, Sendable {
    private let kind: Kind

    private enum Kind: Hashable, Sendable {
        case operation(Aggregation.Operation)
        /// The field's name is none; the query that is given it fails.
        case invalid(String)
    }

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// How many documents there are.
    public static func count() -> AggregateField {
        AggregateField(.operation(.count(upTo: nil)))
    }

    /// The sum of the numbers in a field: an `Int` when all are integers and the sum is one too, else a `Double`.
    public static func sum(_ field: String) -> AggregateField {
        reading(field, Aggregation.Operation.sum)
    }

    /// The sum of the numbers in a field: an `Int` when all are integers and the sum is one too, else a `Double`.
    public static func sum(_ path: FieldPath) -> AggregateField {
        AggregateField(.operation(.sum(path)))
    }

    /// The mean of the numbers in a field: a `Double`, or `NSNull` where there is no number.
    public static func average(_ field: String) -> AggregateField {
        reading(field, Aggregation.Operation.average)
    }

    /// The mean of the numbers in a field: a `Double`, or `NSNull` where there is no number.
    public static func average(_ path: FieldPath) -> AggregateField {
        AggregateField(.operation(.average(path)))
    }

    /// What is to be done.
    ///
    /// - Throws: `.invalidArgument` when the field's name is none.
    func operation() throws(StatusError) -> Aggregation.Operation {
        switch kind {
        case .operation(let operation): operation
        case .invalid(let message): throw StatusError(.invalidArgument, message)
        }
    }

    private static func reading(
        _ field: String,
        _ operation: (FieldPath) -> Aggregation.Operation
    ) -> AggregateField {
        do throws(StatusError) {
            return AggregateField(.operation(operation(try FieldPath(dotted: field))))
        } catch {
            return AggregateField(.invalid(error.message))
        }
    }
}
