import Concurrency
import DocumentModel
import HearthAPI
import PrometheusMetrics

/// The metrics of a server's limits: what they allow, what is in use, and what was refused. All are read at the time of a scrape.
enum LimitMetrics {
    static func declare(
        in registry: MetricsRegistry,
        _ connection: ConnectionConfiguration,
        _ resources: ServerResources,
        _ queues: QueueMetrics
    ) {
        let (connections, requests) = (connection.slots, connection.requestSlots)
        registry.sampledValue("hearth_http_connections", "Open connections.") { Double(connections.count) }
        registry.sampledValue("hearth_http_connections_limit", "The limit on open connections.") { Double(connections.limit) }
        registry.sampled(
            "hearth_http_connections_refused_total",
            "Connections refused at a limit, by reason: that of all connections, or of one address.",
            .counter
        ) {
            let (total, perAddress) = connections.refusedCounts
            return [.init(["reason": "total"], Double(total)), .init(["reason": "address"], Double(perAddress))]
        }
        let slots = resources.streams.slots
        registry.sampledValue("hearth_watch_streams", "Open watch streams, of all protocols.") { Double(slots.count) }
        registry.sampledValue("hearth_watch_streams_limit", "The limit on open watch streams.") { Double(slots.limits.total) }
        let (bodies, responses) = (resources.bodyBudget, resources.responseBudget)
        registry.sampled("hearth_held_bytes", "Memory reserved for the bodies of requests and for responses.") {
            [.init(["kind": "body"], Double(bodies.reservedBytes)), .init(["kind": "response"], Double(responses.reservedBytes))]
        }
        registry.sampled("hearth_held_bytes_limit", "The limits on the memory for the bodies of requests and for responses.") {
            [.init(["kind": "body"], Double(bodies.limit)), .init(["kind": "response"], Double(responses.limit))]
        }
        registry.sampled(
            "hearth_shed_total",
            "Refusals at a limit of the server, by reason: memory for bodies or responses, watch streams, HTTP/2 requests, or time in a queue.",
            .counter
        ) {
            [
                .init(["reason": "body_memory"], Double(bodies.refusedCount)),
                .init(["reason": "response_memory"], Double(responses.refusedCount)),
                .init(["reason": "streams"], Double(slots.refusedCount)),
                .init(["reason": "requests"], Double(requests.refusedCount)),
                .init(["reason": "queue_time"], Double(queues.refusedCount)),
            ]
        }
        let rates = resources.callRates
        registry.sampled(
            "hearth_refused_calls_total",
            "Calls refused at a limit of their client, by reason: the rate of its address, or of its key.",
            .counter
        ) {
            [
                .init(["reason": "address_rate"], Double(rates.addresses.refusedCount)),
                .init(["reason": "key_rate"], Double(rates.keys.refusedCount)),
            ]
        }
        let certificate = connection.certificate
        registry.sampledValue(
            "hearth_tls_certificate_expiry_timestamp_seconds",
            "The time at which the certificate of a server with TLS expires, in Unix time."
        ) { certificate?.expirationTime.unixSeconds }
    }
}
