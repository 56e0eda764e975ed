package import JSONRPC

extension Arguments {
    /// The value of a parameter that is a number in a range; nil when it is absent.
    ///
    /// - Throws: ``RPCErrorCode/invalidParams`` when it is outside.
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
