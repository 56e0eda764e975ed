extension NormalizedQuery {
    /// Whether results hold a document's fields as they are stored, so that nothing need be read to give them.
    package var givesWholeDocuments: Bool {
        projection == nil && vectorSearch?.distanceField == nil
    }

    /// What of a document the result holds.
    ///
    /// - Parameter distance: The document's distance by ``vectorSearch``.
    package func shape(_ fields: MapValue, distance: Double? = nil) -> MapValue {
        var fields = fields
        // First, since what is not wanted isn't in the result either.
        if let distance, let field = vectorSearch?.distanceField { fields.set(.double(distance), at: field) }
        return projection.map { fields.masked($0) } ?? fields
    }
}
