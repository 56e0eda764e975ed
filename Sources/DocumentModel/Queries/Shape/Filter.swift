/// What documents must fulfil: a condition on a field, or several combined.
package indirect enum Filter: Hashable, Sendable {
    /// A condition on a field, or on the document's path for ``FieldPath/documentName``.
    case field(FieldPath, Condition)
    /// All of at least one.
    case and([Filter])
    /// Any of at least one.
    case or([Filter])
}
