/// A query filter: a condition on a field, or a combination of filters.
package indirect enum QueryFilter: Hashable, Sendable {
    /// A condition on a field, or on the document's path for ``FieldPath/documentName``.
    case field(FieldPath, Condition)
    /// A conjunction of one or more filters.
    case and([QueryFilter])
    /// A disjunction of one or more filters.
    case or([QueryFilter])
}
