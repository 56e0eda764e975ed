internal import UTF8Text

/// A three-way merge of the fields of a document: the changes of two versions to an earlier one.
///
/// A field that one version has set or removed is taken from it, and so are the fields inside maps. Any other value is merged as a
/// whole, arrays among them. A field that both versions have changed, not to the same value, is a conflict.
package struct FieldMerge: Sendable {
    /// The merged fields. A field with a conflict has the value of the first version.
    package let fields: MapValue
    /// The fields that both versions have changed, in order.
    package let conflicts: [FieldPath]

    /// Merges two versions. Takes time linear in their fields.
    ///
    /// - Parameters:
    ///   - ours: The first version.
    ///   - theirs: The second version.
    ///   - base: The version that both have changed.
    package init(_ ours: MapValue, _ theirs: MapValue, since base: MapValue) {
        var conflicts: [FieldPath] = []
        fields = Self.merge(ours, theirs, base, below: [], &conflicts)
        self.conflicts = conflicts
    }

    private static func merge(
        _ ours: MapValue,
        _ theirs: MapValue,
        _ base: MapValue,
        below path: [UTF8Key],
        _ conflicts: inout [FieldPath]
    ) -> MapValue {
        var merged: [(key: UTF8Key, value: Value)] = []
        for name in Set(ours.keys).union(theirs.keys).sorted() {
            let (our, their, old) = (ours[name], theirs[name], base[name])
            let value: Value?
            if our == their || their == old {
                value = our
            } else if our == old {
                value = their
            } else if case (.map(let our)?, .map(let their)?) = (our, their) {
                value = .map(merge(our, their, old?.members ?? MapValue(), below: path + [name], &conflicts))
            } else {
                conflicts.append(FieldPath(unchecked: path + [name]))
                value = our
            }
            if let value { merged.append((name, value)) }
        }
        return MapValue(merged)
    }
}
