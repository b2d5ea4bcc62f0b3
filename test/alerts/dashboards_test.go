// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package alerts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// datasource is where a panel or a variable gets its data.
type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// dashboard is what the dashboards of config/grafana have of Grafana's fields, and no others: what
// Grafana exports beside them is noise.
type dashboard struct {
	UID           string            `json:"uid"`
	Title         string            `json:"title"`
	Description   string            `json:"description"`
	Tags          []string          `json:"tags"`
	SchemaVersion int               `json:"schemaVersion"`
	Time          map[string]string `json:"time"`
	Refresh       string            `json:"refresh"`
	Templating    struct {
		List []variable `json:"list"`
	} `json:"templating"`
	Panels []panel `json:"panels"`
}

type variable struct {
	Name       string     `json:"name"`
	Label      string     `json:"label"`
	Type       string     `json:"type"`
	Datasource datasource `json:"datasource"`
	Query      string     `json:"query"`
	Refresh    int        `json:"refresh"`
	Sort       int        `json:"sort"`
}

type panel struct {
	Title       string `json:"title"`
	Type        string `json:"type"`
	Description string `json:"description"`
	GridPos     struct {
		X int `json:"x"`
		Y int `json:"y"`
		W int `json:"w"`
		H int `json:"h"`
	} `json:"gridPos"`
	Datasource datasource `json:"datasource"`
	Targets    []struct {
		RefID        string `json:"refId"`
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
		Instant      bool   `json:"instant"`
		Format       string `json:"format"`
	} `json:"targets"`
	Options     map[string]string `json:"options"`
	FieldConfig struct {
		Defaults  map[string]any   `json:"defaults"`
		Overrides []map[string]any `json:"overrides"`
	} `json:"fieldConfig"`
	Transformations []map[string]any `json:"transformations"`
}

// dashboards reads the dashboards of config/grafana, by the names of their files.
func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "config", "grafana", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	all := map[string]dashboard{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var d dashboard
		require.NoError(t, yaml.UnmarshalStrict(text, &d), path)
		all[filepath.Base(path)] = d
	}
	return all
}

func TestADashboardIsItsOwnInAnyGrafana(t *testing.T) {
	uids := map[string]string{}
	for name, d := range dashboards(t) {
		assert.NotContains(t, uids, d.UID, name)
		uids[d.UID] = name
		assert.NotEmpty(t, d.UID, "%s: an update would add another", name)
		require.NotEmpty(t, d.Templating.List)
		assert.Equal(t, variable{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus"}, d.Templating.List[0])
		chosen := datasource{Type: "prometheus", UID: "${datasource}"}
		for _, v := range d.Templating.List[1:] {
			assert.Equal(t, chosen, v.Datasource, "%s: %s", name, v.Name)
		}
		for _, p := range d.Panels {
			assert.Equal(t, chosen, p.Datasource, "%s: %s", name, p.Title)
			assert.NotEmpty(t, p.Targets, "%s: %s", name, p.Title)
		}
	}
}

func TestPanelsHaveTitlesAndPlacesOfTheirOwn(t *testing.T) {
	type place struct{ x, y int }
	for name, d := range dashboards(t) {
		titles, taken := map[string]bool{}, map[place]string{}
		for _, p := range d.Panels {
			assert.False(t, titles[p.Title], "%s: %s", name, p.Title)
			titles[p.Title] = true
			assert.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, "%s: %s", name, p.Title)
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					at := place{p.GridPos.X + x, p.GridPos.Y + y}
					assert.Empty(t, taken[at], "%s: %s lies on it", name, p.Title)
					taken[at] = p.Title
				}
			}
		}
	}
}
