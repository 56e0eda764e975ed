import DocumentModel
import HearthService
import JSONRPC
import StrictJSON

/// A query of the model; the pages' own ``Query`` is that of an address.
typealias StoreQuery = DocumentModel.Query

/// The query by which a page finds its documents: the very parameters of `query.run` that the page shows to be copied.
struct CollectionQuery: Sendable {
    /// What is wrong with a query, and with which of the filters.
    struct Fault: Error {
        let message: String
        /// Where in the query's JSON it is, as the errors of calls say it; nil where that isn't known.
        var place: String?
        /// The filter that it is about, by its place; nil when it is about the query as a whole.
        let filter: Int?
    }

    /// The parameters as JSON.
    let params: [UInt8]
    let query: NormalizedQuery

    /// States the query of a request.
    ///
    /// - Parameters:
    ///   - orders: The whole order, with what the rules add, where a part of the result is wanted; the request's own when nil.
    ///   - limit: How many documents; nil for all.
    init(
        _ request: CollectionRequest,
        orders: [StoreQuery.Order]? = nil,
        cursor: CollectionRequest.Cursor? = nil,
        limit: Int? = nil
    ) throws(Fault) {
        let params = try Self.params(of: request, orders: orders, cursor: cursor, limit: limit)
        self.params = params
        do {
            query = try RunQuery.params(from: Arguments(json: params, of: RunQuery.self)).query
        } catch let error as any RPCErrorConvertible {
            throw Fault(error.rpcError, filterCount: request.filters.count)
        } catch {
            throw Fault(message: "This query can’t be read.", filter: nil)
        }
    }

    /// States the query of the part that a request asks for, of the documents that it shows and no more.
    init(following request: CollectionRequest) throws(Fault) {
        var cursor = request.cursor
        var orders: [StoreQuery.Order]?
        if !request.isQuery {
            // What is listed, as a query finds it: the place of a list is an ID.
            orders = [StoreQuery.Order(.field(.documentName))]
            cursor = cursor?.mapPlace { id in UTF8Key(VisibleJSON.text(Value.array([.string(id.string)]).json)) }
        } else if cursor != nil {
            orders = try CollectionQuery(request).query.orders
        }
        try self.init(request, orders: orders, cursor: cursor, limit: request.count.count)
    }

    /// The parameters as JSON; what they mean isn't looked at.
    static func params(
        of request: CollectionRequest,
        orders: [StoreQuery.Order]?,
        cursor: CollectionRequest.Cursor?,
        limit: Int?
    ) throws(Fault) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("collection")
        writer.string(request.path.string)
        try writer.filters(request.filters)
        let orders =
            orders ?? request.orders.map { StoreQuery.Order(.field($0.field), $0.isDescending ? .descending : .ascending) }
        if !orders.isEmpty {
            writer.key("orderBy")
            writer.beginArray()
            for order in orders { writer.order(order) }
            writer.endArray()
        }
        var isBefore = false
        if let cursor {
            let place: UTF8Key
            switch cursor {
            case .after(let text):
                writer.key("startAfter")
                place = text
            case .before(let text):
                writer.key("endBefore")
                place = text
                isBefore = true
            }
            writer.beginObject()
            writer.key("values")
            do throws(JSONSyntaxError) {
                writer.raw(try JSONText(Array(place.utf8)).root.rawBytes)
            } catch {
                throw Fault(message: "The place in the order is no JSON. Begin with the first page.", filter: nil)
            }
            writer.endObject()
        }
        if let limit {
            if isBefore { writer.key("limitToLast") } else { writer.key("limit") }
            writer.integer(Int64(limit))
        }
        writer.endObject()
        return writer.finish()
    }
}

extension JSONWriter {
    fileprivate mutating func filters(_ rows: [FilterRow]) throws(CollectionQuery.Fault) {
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
                if let fault = row.fault { throw StatusError(.invalidArgument, fault) }
                let (field, operand) = try row.condition()
                beginObject()
                key("field")
                string(field.description)
                key("op")
                string(row.op.rawValue)
                key("value")
                raw(operand)
                endObject()
            } catch {
                throw CollectionQuery.Fault(message: error.message, filter: index)
            }
        }
        if rows.count > 1 {
            endArray()
            endObject()
        }
    }

    fileprivate mutating func order(_ order: StoreQuery.Order) {
        beginObject()
        key("field")
        string(order.key.field.description)
        if order.direction == .descending {
            key("direction")
            string("desc")
        }
        endObject()
    }
}

extension CollectionQuery.Fault {
    /// The fault that a call's error tells of.
    init(_ error: RPCError, filterCount: Int) {
        var message = error.message
        if case .string(let reason)? = error.data["reason"] { message = reason }
        var place = ""
        for name: UTF8Key in ["parameter", "path"] {
            if case .string(let text)? = error.data[name], text.utf8.starts(with: "params".utf8) { place = text }
        }
        self.init(message: message, place: place.utf8.isEmpty ? nil : place, filter: Self.filter(at: place, of: filterCount))
    }

    /// The filter that a place in the parameters is in: `params.where.and[1].value`.
    private static func filter(at place: String, of count: Int) -> Int? {
        let (all, one) = ("params.where.and[".utf8, "params.where".utf8)
        if place.utf8.starts(with: all) {
            let digits = place.utf8.dropFirst(all.count).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return Int(String(Substring(digits))).flatMap { $0 < count ? $0 : nil }
        }
        return count == 1 && place.utf8.starts(with: one) ? 0 : nil
    }
}

extension Arguments {
    /// Takes parameters as a call has them.
    init(json: [UInt8], of method: any RPCMethod.Type) throws {
        try self.init(object: JSONText(json).root, at: .params, declared: method.parameters)
    }
}
