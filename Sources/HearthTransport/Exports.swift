// Types of the public API that are shared with the server.
@_exported public import struct DocumentModel.FieldPath
@_exported public import struct DocumentModel.GeoPoint
@_exported public import enum DocumentModel.ListedDocument
@_exported public import struct DocumentModel.Timestamp
@_exported public import struct HearthWire.CollectionListPage
@_exported public import struct HearthWire.DocumentListPage
@_exported public import struct HearthWire.WatchFrame
@_exported public import struct HearthWire.WatchTarget
