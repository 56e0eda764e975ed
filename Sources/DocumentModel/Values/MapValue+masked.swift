extension MapValue {
    /// The map with no other fields than those that the mask names; a path that leads nowhere adds nothing.
    ///
    /// - Parameter mask: In order, so that members are added at the end, and a map as a whole before fields inside it.
    package func masked(_ mask: [FieldPath]) -> MapValue {
        var kept = MapValue()
        for path in mask {
            if let value = self[path] { kept.set(value, at: path) }
        }
        return kept
    }
}
