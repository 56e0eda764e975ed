internal import DocumentModel

/// An aggregation over all documents of a query.
public struct AggregateField: Hashable, Sendable {
    private let kind: Kind

    private enum Kind: Hashable, Sendable {
        case operation(Aggregation.Operation)
        /// The field path is invalid: a query with this aggregation fails.
        case invalid(String)
    }

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// Returns an aggregation that counts the documents.
    public static func count() -> AggregateField {
        AggregateField(.operation(.count(upTo: nil)))
    }

    /// Returns the sum of the numeric values of a field: an `Int` if all values and the sum are integers, otherwise a `Double`.
    public static func sum(_ field: String) -> AggregateField {
        parsing(field, Aggregation.Operation.sum)
    }

    /// Returns the sum of the numeric values of a field: an `Int` if all values and the sum are integers, otherwise a `Double`.
    public static func sum(_ path: FieldPath) -> AggregateField {
        AggregateField(.operation(.sum(path)))
    }

    /// Returns the average of the numeric values of a field: a `Double`, or `NSNull` if there are none.
    public static func average(_ field: String) -> AggregateField {
        parsing(field, Aggregation.Operation.average)
    }

    /// Returns the average of the numeric values of a field: a `Double`, or `NSNull` if there are none.
    public static func average(_ path: FieldPath) -> AggregateField {
        AggregateField(.operation(.average(path)))
    }

    /// Returns the aggregation operation.
    ///
    /// - Throws: `.invalidArgument` if the field path is invalid.
    func operation() throws(StatusError) -> Aggregation.Operation {
        switch kind {
        case .operation(let operation): operation
        case .invalid(let message): throw StatusError(.invalidArgument, message)
        }
    }

    private static func parsing(
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
