extension VectorSearch {
    /// Checks the search's fields and numbers.
    func validate() throws(StatusError) {
        let place = QueryPlace("findNearest")
        try place.member("field").of { () throws(StatusError) in try field.validate() }
        guard (1...DocumentLimits.maximumVectorDimensions).contains(vector.count) else {
            throw place.member("vector").error(
                "Expected a vector of 1 to \(DocumentLimits.maximumVectorDimensions) dimensions, found \(vector.count)."
            )
        }
        guard vector.allSatisfy(\.isFinite) else {
            throw place.member("vector").error("Expected a vector of finite numbers, found NaN or an infinity in it.")
        }
        guard (1...Self.maximumLimit).contains(limit) else {
            throw place.member("limit").error("Expected a limit of 1 to \(Self.maximumLimit) documents, found \(limit).")
        }
        guard threshold?.isNaN != true else {
            throw place.member("distanceThreshold").error("Expected a number as the threshold, found NaN.")
        }
        try place.member("distanceResultField").of { () throws(StatusError) in try distanceField?.validate() }
    }
}
