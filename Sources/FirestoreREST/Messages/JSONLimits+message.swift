import StrictJSON

extension JSONLimits {
    /// For texts that are no longer than they may be: a map or array of a value is three levels of a message's JSON, and a value
    /// has up to 20.
    static let message = JSONLimits(maximumBytes: largestText, maximumDepth: 100)
}
