package kvstore

// SearchOptions say how words are searched for; none need be given.
type SearchOptions struct {
	// AllWords asks for all of the words instead of one.
	AllWords bool
	// Language compares words by their stems: "english", or "" for none.
	Language string
	// CaseSensitive and DiacriticSensitive tell apart what differs in case and in accents.
	CaseSensitive, DiacriticSensitive bool
}

// Search selects entities by the words in any of their texts: fox*, "a phrase", -not.
func Search(text string, options ...SearchOptions) *Query {
	return &Query{Filter: search(text, options)}
}

// Search selects text by its words, as the function [Search] does.
func (p Path) Search(text string, options ...SearchOptions) *Query {
	return p.test("$text", search(text, options)["$text"])
}

func search(text string, options []SearchOptions) M {
	members := M{"$search": text}
	for _, option := range options {
		put(members, "$language", option.Language)
		if option.AllWords {
			members["$matchCriteria"] = "all"
		}
		if option.CaseSensitive {
			members["$caseSensitive"] = true
		}
		if option.DiacriticSensitive {
			members["$diacriticSensitive"] = true
		}
	}
	return M{"$text": members}
}

// A Computed is what is known of a result beside the entity: [TextScore], [Distance] or a [Snippet].
type Computed interface{ computation() M }

// A Meta is a number that is computed of an entity.
type Meta string

const (
	// TextScore is how well an entity fits the searches of the query.
	TextScore Meta = "textScore"
	// Distance is how far a place is from the one that the query is near to, in metres.
	Distance Meta = "geoNearDistance"
)

func (m Meta) computation() M { return M{"$meta": string(m)} }

// A Snippet is the part of an entity's texts that shows best why a search found it. Nothing in it is escaped.
type Snippet struct {
	// Start and End stand around what was found; both empty: "<b>" and "</b>".
	Start, End string
	// Ellipsis stands for what was left out; empty: "…".
	Ellipsis string
	// Words is the largest number of words; 0: 20.
	Words int
	// Path is the member to take it from; empty: the texts that were searched.
	Path string
}

func (s Snippet) computation() M {
	members := M{"$meta": "snippet"}
	if s.Start != "" || s.End != "" {
		members["start"], members["end"] = s.Start, s.End
	}
	put(members, "ellipsis", s.Ellipsis)
	put(members, "words", s.Words)
	put(members, "path", s.Path)
	return members
}

// ByScore sorts by [TextScore], the best first.
func ByScore() SortKey { return SortKey{Name: "score", meta: TextScore} }

// ByDistance sorts by [Distance], the nearest first.
func ByDistance() SortKey { return SortKey{Name: "distance", meta: Distance} }

// Computing gives the same query, whose results have one more member: what is computed stands for a member of that
// name. What is stored never has it.
func (q *Query) Computing(name string, value Computed) *Query {
	return q.changed(func(query *Query) {
		computed := map[string]Computed{name: value}
		for known, other := range query.Computed {
			if known != name {
				computed[known] = other
			}
		}
		query.Computed = computed
	})
}
