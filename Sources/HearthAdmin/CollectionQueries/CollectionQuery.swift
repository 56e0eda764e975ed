import DocumentModel
import HearthAPI
import JSONRPC
import StrictJSON
import UTF8Text

/// The query of a collection page, built as parameters of `query.run`, which the page also offers for copying.
struct CollectionQuery: Sendable {
    /// A rejected query.
    struct ValidationError: Error {
        let message: String
        /// The path in the parameters, such as `params.where.and[1].value`; `nil` if it is unknown.
        var parameterPath: String?
        /// The index of the invalid filter; `nil` if the error concerns the whole query.
        let filterIndex: Int?
        /// The offset of a syntax error in the text of the query, in bytes.
        var offset: Int?
    }

    /// The parameters of `query.run` as JSON.
    let params: [UInt8]
    let query: NormalizedQuery

    /// Builds the query of a request.
    ///
    /// - Parameters:
    ///   - orders: The complete sort order, including implicit orders, as a cursor requires; `nil` to use the order of the
    ///     request.
    ///   - limit: The maximum number of documents; `nil` for no limit.
    ///   - offset: The number of documents to skip.
    ///   - isFromEnd: Whether the limit applies to the last documents, which requires `orders`.
    init(
        _ request: CollectionRequest,
        orders: [StructuredQuery.Order]? = nil,
        cursor: CollectionRequest.Cursor? = nil,
        limit: Int? = nil,
        offset: Int = 0,
        isFromEnd: Bool = false
    ) throws(ValidationError) {
        let params = try Self.params(
            of: request,
            orders: orders,
            cursor: cursor,
            limit: limit,
            offset: offset,
            isFromEnd: isFromEnd
        )
        self.params = params
        do {
            query = try RunQuery.params(from: Arguments(json: params, of: RunQuery.self)).query
        } catch let error as any RPCErrorConvertible {
            throw ValidationError(error.rpcError, filterCount: request.filters.count)
        } catch {
            throw ValidationError(message: "This query cannot be decoded.", filterIndex: nil)
        }
    }

    /// Builds the query to watch for a request's page: it matches exactly the documents on that page.
    init(watching request: CollectionRequest) throws(ValidationError) {
        var cursor = request.cursor
        var orders: [StructuredQuery.Order]?
        if !request.isQuery {
            // The query equivalent of a list, whose cursor is an ID.
            orders = [StructuredQuery.Order(.field(.documentName))]
            cursor = cursor?.mapPosition { id in UTF8Key(EscapedJSON.text(Value.array([.string(id.string)]).json)) }
        } else if cursor != nil {
            orders = try CollectionQuery(request).query.orders
        }
        try self.init(request, orders: orders, cursor: cursor, limit: request.pageSize.count)
    }

    /// Encodes the parameters as JSON, without validating the query.
    static func params(
        of request: CollectionRequest,
        orders: [StructuredQuery.Order]?,
        cursor: CollectionRequest.Cursor?,
        limit: Int?,
        offset: Int = 0,
        isFromEnd: Bool = false
    ) throws(ValidationError) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("collection")
        writer.string(request.path.string)
        try writer.filters(request.filters)
        let orders =
            orders ?? request.orders.map { StructuredQuery.Order(.field($0.field), $0.isDescending ? .descending : .ascending) }
        if !orders.isEmpty {
            writer.key("orderBy")
            writer.beginArray()
            for order in orders { order.write(to: &writer) }
            writer.endArray()
        }
        var isBefore = false
        if let cursor {
            let position: UTF8Key
            switch cursor {
            case .after(let text):
                writer.key("startAfter")
                position = text
            case .before(let text):
                writer.key("endBefore")
                position = text
                isBefore = true
            }
            writer.beginObject()
            writer.key("values")
            do throws(JSONSyntaxError) {
                writer.raw(try JSONText(Array(position.utf8)).root.rawBytes)
            } catch {
                throw ValidationError(
                    message: "The page cursor is not valid JSON. Start again from the first page.",
                    filterIndex: nil
                )
            }
            writer.endObject()
        }
        if offset > 0 {
            writer.key("offset")
            writer.integer(Int64(offset))
        }
        if let limit {
            if isBefore || isFromEnd { writer.key("limitToLast") } else { writer.key("limit") }
            writer.integer(Int64(limit))
        }
        writer.endObject()
        return writer.finish()
    }
}

extension JSONWriter {
    fileprivate mutating func filters(_ rows: [FilterRow]) throws(CollectionQuery.ValidationError) {
        let rows = rows.enumerated().filter { !$0.element.isBlank }
        guard !rows.isEmpty else { return }
        key("where")
        if rows.count > 1 {
            beginObject()
            key("and")
            beginArray()
        }
        for (index, row) in rows {
            do throws(StatusError) {
                try row.write(to: &self)
            } catch {
                throw CollectionQuery.ValidationError(message: error.message, filterIndex: index)
            }
        }
        if rows.count > 1 {
            endArray()
            endObject()
        }
    }
}

extension CollectionQuery.ValidationError {
    /// Creates a validation error from the error of a method call.
    init(_ error: RPCError, filterCount: Int) {
        var message = error.message
        if case .string(let reason)? = error.data["reason"] { message = reason }
        var path = ""
        for name: UTF8Key in ["parameter", "path"] {
            if case .string(let text)? = error.data[name], text.utf8.starts(with: "params".utf8) { path = text }
        }
        self.init(
            message: message,
            parameterPath: path.utf8.isEmpty ? nil : path,
            filterIndex: Self.filterIndex(at: path, of: filterCount)
        )
    }

    /// Returns the index of the filter that a parameter path is in, such as `params.where.and[1].value`.
    private static func filterIndex(at path: String, of count: Int) -> Int? {
        let (all, one) = ("params.where.and[".utf8, "params.where".utf8)
        if count > 1, path.utf8.starts(with: all) {
            let digits = path.utf8.dropFirst(all.count).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return Int(String(Substring(digits))).flatMap { $0 < count ? $0 : nil }
        }
        return count == 1 && path.utf8.starts(with: one) ? 0 : nil
    }
}

extension Arguments {
    /// Decodes the parameters of a method call.
    init(json: [UInt8], of method: any RPCMethod.Type) throws {
        try self.init(object: JSONText(json).root, at: .params, declared: method.parameters)
    }
}
