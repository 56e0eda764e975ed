internal import Concurrency
internal import DocumentModel
internal import DocumentStore
internal import HearthWire
internal import JSONRPC
package import Logging
internal import StrictJSON
internal import UTF8Text

/// Calls of typical queries when a server starts, so that a client's first query costs about as much as later ones.
///
/// On first use, a process instantiates generic types and looks up their conformances, opens a connection to the index and parses
/// its schema. This takes several times as long as a query.
package enum WarmUp {
    /// Makes the calls, and ignores their results and errors.
    package static func run(in context: ServiceContext, logger: Logger) async {
        let server = RPCServer<ServiceContext>(
            limits: context.server.limits.rpc,
            responseBudget: .unlimited,
            metrics: nil,
            logger: logger
        )
        let roots = try? await ListCollections.call(.init(pageSize: 1), in: context)
        // A query of a collection that does not exist needs the index as well.
        let collection = roots?.collections.first?.key.string ?? "items"
        for call in calls(of: collection) where !Task.isCancelled { _ = await server.handle(call, context: context) }
    }

    /// Returns the bodies of the calls. Each reads at most a few documents of the collection.
    package static func calls(of collection: String) -> [[UInt8]] {
        var writer = JSONWriter()
        writer.string(collection)
        let collection = String(decoding: writer.finish(), as: UTF8.self)
        // In most databases, no document has this field.
        let field = #""warmUp""#
        let condition = #"{"field":\#(field),"op":"==","value":0}"#
        let circle = #"{"center":{"$geoPoint":{"latitude":0,"longitude":0}},"radius":1}"#
        let calls: [(method: UTF8Key, params: String)] = [
            (ListDocuments.name, #"{"collection":\#(collection),"pageSize":1}"#),
            (RunQuery.name, #"{"collection":\#(collection),"limit":1}"#),
            (RunQuery.name, #"{"collection":\#(collection),"where":\#(condition),"limit":1}"#),
            (RunQuery.name, #"{"collection":\#(collection),"orderBy":[{"field":\#(field)}],"limit":1}"#),
            (
                RunQuery.name,
                #"{"collection":\#(collection),"where":{"or":[\#(condition),{"field":\#(field),"op":">","value":0}]},"limit":1}"#
            ),
            (
                RunQuery.name,
                #"{"collection":\#(collection),"where":{"field":\#(field),"op":"near","value":\#(circle)},"limit":1}"#
            ),
            (
                RunAggregationQuery.name,
                #"{"collection":\#(collection),"where":\#(condition),"aggregations":[{"count":{},"alias":"count"}]}"#
            ),
        ]
        return calls.map { Array(#"{"jsonrpc":"2.0","id":1,"method":"\#($0.method.string)","params":\#($0.params)}"#.utf8) }
    }
}
