package import JSONRPC

extension Arguments {
    /// Returns the value of an integer parameter, or `nil` if it is absent.
    ///
    /// - Throws: ``RPCErrorCode/invalidParams`` if the value is outside the range.
    package func number(_ parameter: Parameter<Int?>, in range: ClosedRange<Int>) throws(RPCError) -> Int? {
        guard let number = try self[parameter] else { return nil }
        guard range.contains(number) else {
            throw .invalidParams(
                at: "\(location(of: parameter))",
                reason: range.upperBound == .max
                    ? "expected at least \(range.lowerBound)" : "expected \(range.lowerBound) to \(range.upperBound)",
                got: "\(number)"
            )
        }
        return number
    }
}
