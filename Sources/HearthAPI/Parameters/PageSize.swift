package import JSONRPC
package import StrictJSON

/// The maximum number of entries on a page. Sizes above the server's limit are reduced to it.
package struct PageSize: ParameterValue, Hashable, ExpressibleByIntegerLiteral {
    package let count: Int

    /// The default page size.
    package static let standard: PageSize = 100

    package init(integerLiteral count: Int) {
        self.count = count
    }

    /// - Parameter count: At least 1.
    package init(_ count: Int) {
        self.count = count
    }

    package static var schema: JSONSchema {
        .integer(minimum: 1)
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        count = try Int(json: json, at: location)
        guard count >= 1 else { throw location.invalid("expected at least 1", got: json) }
    }
}
